"""Kinds: what the API server calls them and where they stand."""

from webhook.model.kinds import BUILT_IN, JOB, JOBSET, NAMESPACE, POD, PRIORITY_CLASS, Key


def test_paths_are_those_of_the_api_server():
    assert JOB.path == "/apis/batch/v1/jobs"
    assert JOB.path_of("team-a", "train") == "/apis/batch/v1/namespaces/team-a/jobs/train"
    assert JOBSET.path == "/apis/jobset.x-k8s.io/v1alpha2/jobsets"
    assert POD.path == "/api/v1/pods"
    assert POD.path_of("team-a", "p-0") == "/api/v1/namespaces/team-a/pods/p-0"
    assert PRIORITY_CLASS.path == "/apis/scheduling.k8s.io/v1/priorityclasses"


def test_the_core_group_has_no_slash_in_its_version():
    assert (JOB.api_version, NAMESPACE.api_version) == ("batch/v1", "v1")
    assert (JOB.resource, POD.resource) == ("jobs.batch", "pods")


def test_kinds_are_values():
    assert len({*BUILT_IN, *BUILT_IN}) == 2


def test_every_key_of_ours_bears_our_prefix():
    ours = [value for name, value in vars(Key).items() if name.isupper()]
    assert len(ours) == len(set(ours)) == 11
    assert all(value.startswith(Key.PREFIX) for value in ours)

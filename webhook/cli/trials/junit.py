"""JUnit's XML, as CI servers show it: a suite a file, a case a test.

An expectation that does not hold is a failure, a test that could not be run an error. Rules without a test are
properties of the whole, so that they are seen and fail nothing.
"""

from __future__ import annotations

from xml.etree import ElementTree as Xml

from webhook.cli.reports.junit import document, xml_text
from webhook.cli.trials.results import Results, place_of
from webhook.language.render import render_text
from webhook.rehearsal.trials import Trial


def render(results: Results) -> str:
    """The whole document."""
    suites = Xml.Element("testsuites", name="tidegate test")
    if results.covering:
        suites.append(_coverage(results))
    for path in results.paths:
        suites.append(_suite(path, results))
    trials = results.trials.trials
    counts = {"tests": len(trials), "failures": results.failed, "errors": results.not_run}
    for name, count in counts.items():
        suites.set(name, str(count))
    return document(suites)


def _coverage(results: Results) -> Xml.Element:
    found = Xml.Element("properties")
    Xml.SubElement(found, "property", name="coverage", value=str(results.trials.coverage.percent))
    for item in results.trials.coverage.uncovered:
        value = xml_text(f"{item.place}: {item.title}: {item.missing}")
        Xml.SubElement(found, "property", name="uncovered", value=value)
    return found


def _suite(path: str, results: Results) -> Xml.Element:
    trials = results.of(path)
    suite = Xml.Element("testsuite", name=xml_text(path), skipped="0")
    suite.set("tests", str(len(trials)))
    suite.set("failures", str(sum(bool(trial.problems) for trial in trials)))
    suite.set("errors", str(sum(bool(trial.not_run) for trial in trials)))
    suite.extend(_case(trial, results) for trial in trials)
    return suite


def _case(trial: Trial, results: Results) -> Xml.Element:
    path, line = place_of(trial)
    case = Xml.Element(
        "testcase", classname=xml_text(path), name=xml_text(trial.scene.name),
        file=xml_text(path), line=str(line), time="0",
    )  # fmt: skip
    if trial.not_run:
        Xml.SubElement(case, "error", type="not run", message=xml_text(trial.not_run))
    if trial.problems:
        attributes = {"type": trial.problems[0].code, "message": trial.problems[0].message}
        failure = Xml.SubElement(case, "failure", {k: xml_text(v) for k, v in attributes.items()})
        failure.text = xml_text(render_text(trial.problems, results.sources))
    return case

"""From a Kubernetes object to a workload and back to a patch.

What an object asks for, which pods it will make, how it is stopped and started, and when it has
finished. One module a kind; kinds that a policy declares arrive as values.
"""

"""The fixtures of the sandbox's tests; those that run against both servers are shared."""

from tests.apiservers import api_server, client, is_sandbox, kubectl

__all__ = ["api_server", "client", "is_sandbox", "kubectl"]

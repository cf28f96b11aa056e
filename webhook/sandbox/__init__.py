"""A small Kubernetes API server in memory, over HTTPS, which real kubectl accepts.

It serves the demo, a policy author's laptop and the fast tests. What it does it does as the real
server does, and the same tests are run against both; what it does not do it refuses with a clear
Status. There is no RBAC: whoever has a token may do everything. See docs/sandbox.md.
"""

"""A small API server in memory, for the demo, the author's laptop and the fast tests.

It does what Tidegate relies on and no more, and the same tests run against it and against the
real API server, so that it does not drift into wishful thinking.
"""

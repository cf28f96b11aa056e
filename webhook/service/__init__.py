"""The long-running processes: the webhook's server and the loop that starts workloads.

Here the pure core meets clocks, sockets, files and certificates, and is kept thin, because what
is here is the hardest to test.
"""

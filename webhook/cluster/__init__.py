"""Talking to the API server: access, requests, watches, the lease and their errors.

The only place that knows the Kubernetes client. It carries objects as they are and leaves their
meaning to others.
"""

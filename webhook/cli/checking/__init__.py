"""What `tidegate check` is made of: finding and reading manifests, and writing what would become of them.

The verdicts themselves are ``webhook.rehearsal``'s.
"""

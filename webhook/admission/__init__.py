"""From an AdmissionReview to a decision to a response, as functions of values.

The bytes, the sockets and the certificates are the service's; what is here can be tested with a
dictionary and a policy.
"""

"""Tidegate: queue and quota policy as code for Kubernetes.

Policy text becomes a checked policy; the webhook turns an AdmissionReview and that policy into
a decision and a patch; the loop turns watch events and that policy into a ledger, a plan and
patches. Each package is one step of this; CONTRIBUTING.md has the order in which they may
import each other.
"""

__version__ = "0.1.0"

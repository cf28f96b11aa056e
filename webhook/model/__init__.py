"""The cluster as values: quantities, workloads, queues, kinds, events and patches.

Everything here is frozen and has no behaviour beyond arithmetic, so every other package may
share it without asking who else holds it. It imports nothing of ours.
"""

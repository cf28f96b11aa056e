"""Counting: events into a ledger, a ledger and those who wait into a plan.

Knows queues and cohorts as plain values and nothing of the language they were written in. Time
is an argument; the plan says for every workload what happens to it and why.
"""

"""Findings about a policy that is valid and still probably not what its author meant.

A rule is a function, a page and a test. "Can never" rests on a proof: where none is found the
lint is silent, for a false finding costs more trust than a missed one.
"""

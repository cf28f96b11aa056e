"""Findings in the forms that other programs read: a module a format, each a function from a Report to text.

All of them are complete: what people read is cut after fifty findings, what programs read never is.
"""

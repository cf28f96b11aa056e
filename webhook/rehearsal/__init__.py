"""What would happen: a policy tried on paper, by the code that webhook and loop decide with.

Tests inside policies, `tidegate check` and simulations stand on this; nothing here decides anything
by itself, and nothing reaches a cluster or reads a clock.
"""

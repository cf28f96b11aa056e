"""From policy text to a checked policy: grammar, tree, names, types, conditions, format.

Text comes in, values and problems come out; reading files is the caller's business. Each stage
has its own type, so nobody evaluates text that was not checked.
"""

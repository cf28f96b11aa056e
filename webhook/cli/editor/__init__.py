"""What an editor asks of a policy: where is this, what may stand here, what does it come to.

Everything but ``server`` and ``protocol`` is a pure function over the texts of a workspace and a place in one of
them, and knows nothing of the Language Server Protocol: it is tested without a client.
"""

"""The outcome of ``tidegate test`` in each of its formats, one module a format."""

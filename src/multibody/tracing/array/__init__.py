"""Traced arrays, and NumPy's functions on them."""

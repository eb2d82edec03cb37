"""The language: traced arrays, the graph of what was done to them, loops, derivatives. NumPy in, graph out."""

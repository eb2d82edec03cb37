"""Graphs for other programs and for people: C, NumPy, SymPy, text, DOT."""

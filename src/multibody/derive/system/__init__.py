"""Mechanical systems as formulas: bodies, loads and constraints, and systems made from robots."""

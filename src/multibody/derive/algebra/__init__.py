"""Trigonometric polynomials: a normal form, exact tests for zero, and expressions with few operations."""

"""Checks of the exercises: one module for each session."""

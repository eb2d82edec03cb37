"""Passes over a graph and its division into segments, before any code is generated."""

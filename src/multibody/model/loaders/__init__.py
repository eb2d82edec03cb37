"""Readers of robot files, one for each format."""

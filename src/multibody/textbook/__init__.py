"""Formulas of the documents as they are written, to read and to check the algorithms against."""

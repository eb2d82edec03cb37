"""Solvers for one problem and for batches, without robots: least squares, quadratic programs, strict priorities.

Each runs eagerly, traced and compiled, with the same bits for a sample alone and in a batch. `multibody.control`
exports the functions that users name.
"""

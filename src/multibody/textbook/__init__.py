"""Formulas of the documents as they are written, to read and to check the recursive algorithms against.

The equations of motion as sums over bodies (`projected_newton_euler`), generalized forces of Cartesian ones
(`generalized_forces`) and Kindr's time step with percussions (`percussion`). No other room imports them. Formulas of
one body or one rotation are public in `geometry`: `geometry.derivatives`, `geometry.points`, `geometry.groups.Group`.
"""

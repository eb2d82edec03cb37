"""Strict priorities within bounds, level by level, in two forms with one contract.

A level takes the state that earlier levels leave: an x, the directions in which it may still move, and the bounds. The
step of least norm that minimises |A x - b| is taken if it is within the bounds; otherwise a quadratic program decides.
No level moves x in a direction that an earlier one has decided.

`projection` projects: it needs to know nothing of the levels, finds ranks sample by sample, and takes soft rows and
damping. `reduced_bases` needs the sizes of the levels when a kernel is made; its programs shrink from level to level,
and it takes cones. docs/decisions/0033 says why both are here.

Levels without bounds need no program: `hierarchical_least_squares.lexicographic` solves them.
"""

"""Solvers for one problem and for batches, without robots: least squares, quadratic programs, strict priorities.

* `least_squares`, `pseudo_inverse`, `hierarchical_least_squares`: linear equations of any rank;
* `program`: quadratic programs and bounds as data; `quadratic_program`: `qp`, which always has an answer
  (`qp_answer`), by `infeasibility_phases` for rows that contradict each other and for unbounded objectives;
* `interior_point`: the iterations, with regularisation, step lengths and the test of termination, and
  `interior_point_starts`; `equilibration`: scaling; `cone_program`, `cones`: the method with friction cones;
* `daqp`: the active-set solver for single programs, with warm start;
* `hierarchical_qp`, `strict_levels`: strict priorities with inequalities.

Each runs eagerly, traced and compiled, with the same bits for a sample alone and in a batch. `multibody.control`
exports the functions that users name.
"""

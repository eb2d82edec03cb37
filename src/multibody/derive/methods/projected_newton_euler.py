"""Projected Newton–Euler: momentum of each body, projected by its Jacobians.  [RD §3.5; QT §4, §5]"""

import sympy as sp

from multibody.derive.algebra.matrix_products import cross, product
from multibody.derive.results.equations import Equations, finish
from multibody.derive.results.steps import Step
from multibody.derive.system.generalized_forces import potential_energy, spring_energy
from multibody.derive.system.kinematics import (
    along,
    angular_velocity,
    gradient,
    point_jacobian,
    rotation_jacobian,
    tidy,
    transport_angular_velocity,
    transport_velocity,
)
from multibody.derive.system.system import System


def projected_newton_euler(system: System) -> Equations:
    """M, b and g as sums over the bodies.  [RD 3.38-3.48; Kindr §Projected Newton-Euler; QT 44-59]

    The principle of virtual work takes the forces in joints out: they do no work along what the joints allow, which are
    the columns of the Jacobians [RD 3.11, 3.40-3.42]. Linear velocities are along the axes of the world, angular ones
    along those of the body, where the inertia is constant [RD 3.46-3.47].
    """
    n, v, moved = len(system.v), sp.Matrix(system.v), bool(system.moved_bodies)
    M, b, g = sp.zeros(n), sp.zeros(n, 1), sp.zeros(n, 1)
    steps = []
    for body in system.bodies:
        m, J_S, J_R = body.mass, point_jacobian(system, body.position), rotation_jacobian(system, body)
        J_S_dot = tidy(system, along(system, J_S))
        M += m * product(J_S.T, J_S)  # [RD 3.46]
        v_0 = transport_velocity(system, body.position)
        b += m * product(J_S.T, product(J_S_dot, v) + along(system, v_0))  # [RD 3.47]
        g -= m * product(J_S.T, system.gravity)  # [RD 3.48]
        name = f"\\mathrm{{{body.name}}}"
        results = [(f"J_{{S,{name}}}", J_S), (f"\\dot J_{{S,{name}}}", J_S_dot)]
        results += [(f"v_{{0,{name}}} = \\frac{{\\partial r}}{{\\partial t}}", v_0)] if moved else []
        if body.turns:
            theta, J_R_dot, w = body.inertia, tidy(system, along(system, J_R)), angular_velocity(system, body)
            w_0 = transport_angular_velocity(system, body)
            M += product(J_R.T, theta, J_R)
            b += product(J_R.T, product(theta, J_R_dot, v) + cross(w, product(theta, w)))
            b += product(J_R.T, theta, along(system, w_0))
            results += [(f"J_{{R,{name}}}", J_R), (f"\\Omega_{{{name}}}", w)]
            results += [(f"\\Omega_{{0,{name}}}", w_0)] if moved else []
        steps.append(Step(f"Jacobians of {body.name}", "RD 3.9-3.11; QT 28-31", tuple(results)))
    springs = spring_energy(system)
    g += gradient(system, springs).T  # a spring is a force like any other [RD §3.4.3]
    steps.append(
        Step(
            "Momentum of each body, projected onto what its joints allow",
            "RD 3.40-3.48",
            (("U", potential_energy(system)),) if springs else (),
            r"M(q) = \sum J_S^T m J_S + J_R^T \Theta J_R, \quad " + _bias(moved) + r", \quad g(q) = -\sum J_S^T F_g",
        )
    )
    return finish(system, "projected-newton-euler", (M, b, g), steps)


def _bias(moved: bool) -> str:
    """The rule of b: where bodies are moved, their velocities v_0 and Ω_0 at resting coordinates change, too."""
    if not moved:
        return r"b(q, v) = \sum J_S^T m \dot J_S v + J_R^T (\Theta \dot J_R v + \Omega \times \Theta \Omega)"
    return (
        r"b(q, v) = \sum J_S^T m (\dot J_S v + \dot v_0)"
        r" + J_R^T (\Theta (\dot J_R v + \dot \Omega_0) + \Omega \times \Theta \Omega)"
    )

"""Equations of motion as formulas, the result of every method of `multibody.derive`."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import sympy as sp
from numpy.typing import DTypeLike

from multibody._saving import check_place, save
from multibody._signatures import options_of
from multibody.compiler.kernel import Kernel
from multibody.derive import printing
from multibody.derive.algebra.simplify import simplify
from multibody.derive.printing import output_formats
from multibody.derive.printing.html_document import standalone
from multibody.derive.results import comparison, compiled, linearisation
from multibody.derive.results.comparison import Agreement
from multibody.derive.results.equilibria import equilibria as find_equilibria
from multibody.derive.results.linearisation import Linearization
from multibody.derive.results.steps import Step, term
from multibody.derive.system import constraint_rows, degeneracy, generalized_forces
from multibody.derive.system.kinematics import tidy
from multibody.derive.system.system import System
from multibody.derive.system.values import whole_number
from multibody.geometry._arrays import truth


@dataclass(frozen=True, eq=False, repr=False)
class Equations:
    """M(q) v' + b(q, v) + g(q) = τ + J(q)^T λ with q' = F(q) v and J v' + drift = 0.
    [RD 3.1, 3.37-3.38]

    Every part may depend on the time t as well, where the system does.

    The force J^T λ acts on the system, as everywhere in this library; RD 3.37 has the opposite
    sign.

    Args:
        method: the name of the method that found them.
        system: what they describe.
        M: the mass matrix.
        b: Coriolis and centrifugal forces, and those of a motion that is given as a function of
            time.
        g: forces of gravity and of springs, ∂U/∂q F.
        tau: generalized forces of everything else, with the inputs of the system.
        J: rows of the constraints, none when there are no constraints.
        drift: J' v and what moves with time: the constraints are J v' + drift = 0.
        steps: the derivation.
        reactions: forces and torques in the joints, by body, where a method keeps them.
    """

    method: str
    system: System
    M: sp.ImmutableMatrix
    b: sp.ImmutableMatrix
    g: sp.ImmutableMatrix
    tau: sp.ImmutableMatrix
    J: sp.ImmutableMatrix
    drift: sp.ImmutableMatrix
    steps: tuple[Step, ...] = ()
    reactions: Mapping[str, tuple[Any, Any]] = field(default_factory=dict)

    @property
    def states(self) -> tuple[tuple[sp.Symbol, ...], tuple[sp.Symbol, ...]]:
        """The coordinates and the velocities."""
        return tuple(self.system.q), tuple(self.system.v)

    @cached_property
    def multipliers(self) -> tuple[sp.Symbol, ...]:
        """λ, one for each constraint; μ or ν where a symbol of the system is called so."""
        taken = {x.name.partition("_")[0] for x in (*self.system.parameters, *self.system.inputs, *self.system.q)}
        letter = next((x for x in ("lambda", "mu", "nu") if x not in taken), "Lambda")
        return tuple(sp.Symbol(f"{letter}_{k + 1}", real=True) for k in range(self.J.rows))

    @cached_property
    def constraints(self) -> sp.ImmutableMatrix:
        """The constraints at the level of accelerations, J v' + drift, which is zero."""
        return sp.ImmutableMatrix(self.J * sp.Matrix(self.system.a) + self.drift)

    @cached_property
    def inertial(self) -> sp.ImmutableMatrix:
        """M v' + b + g, a column: the generalized forces that a motion takes."""
        return sp.ImmutableMatrix(self.M * sp.Matrix(self.system.a) + self.b + self.g)

    @cached_property
    def residual(self) -> sp.ImmutableMatrix:
        """M v' + b + g - τ - J^T λ, a column: zero for a motion that is possible."""
        return sp.ImmutableMatrix(self.inertial - self.tau - self.J.T * sp.Matrix(self.J.rows, 1, self.multipliers))

    @property
    def result(self) -> Step:
        """The last step of the derivation: the terms of the equations, as they are now."""
        v = r"\dot q" if self.system.holonomic_velocities else "v"
        v_dot = v.replace(r"\dot q", r"\ddot q").replace("v", r"\dot v")
        results = [("M", self.M), ("b", self.b), ("g", self.g), (r"\tau", self.tau)]
        M, b, g = (term(name, value, v) for name, value in results[:3])
        formula = rf"{M} {v_dot} + {b} + {g} = \tau"
        if self.J.rows:
            drift, J = constraint_rows.drift_rule(self.system).replace("v", v), term("J", self.J, v)
            results += [("J", self.J), (drift, self.drift)]
            formula += rf" + {J}^T \lambda, \quad {J} {v_dot} + {drift} = 0"
        return Step("The equations of motion", "RD 3.1, 3.53", tuple(results), formula)

    def simplify(self) -> "Equations":
        """Rewrite the equations with few operations: products of sines and cosines as
        sums, coefficients collected.
        """
        parts = simplify([self.M, self.b, self.g, self.tau, self.J, self.drift], units=self.system.units)
        return replace(self, **dict(zip(("M", "b", "g", "tau", "J", "drift"), parts, strict=True)))

    def equal(self, other: "Equations", symbolic: bool = True, seed: int = 0) -> Agreement:
        """Whether other equations describe the same motion, as formulas and as
        numbers at random states.
        """
        return comparison.equal(self, other, symbolic=symbolic, seed=seed)

    def linearize(self, at: Mapping[Any, Any] | None = None) -> Linearization:
        """A and B of x' = A x + B u about an equilibrium; see `derive.linearize`."""
        return linearisation.linearize(self, at)

    linearise = linearize

    @options_of(find_equilibria)
    def equilibria(
        self,
        inputs: Mapping[Any, Any] | None = None,
        parameters: Mapping[Any, Any] | None = None,
        **search: Any,
    ) -> tuple[dict[sp.Symbol, Any], ...]:
        """Coordinates at which the system can rest; see `derive.equilibria`.

        Args:
            inputs: their values, by symbol or name; zero by default.
            parameters: values of parameters; they are needed where there is no exact solution.
            **search: those of `derive.equilibria`.
        """
        return find_equilibria(self, inputs, parameters, **search)

    def kernel(self, quantity: str, values: compiled.Values | None = None, dtype: DTypeLike | None = None) -> Kernel:
        """A native kernel, as `mb.compile` makes them: for batches, as a part of
        other functions, `.to_c()`.

        Args:
            quantity: "mass_matrix" of q; "bias" b + g of q, v; "inverse_dynamics" M a + b + g
                of q, v, a; "forward_dynamics" of q, v, tau and "multipliers" λ of the same,
                where tau are all generalized forces; "forces" τ of q, v, u, with the inputs u
                of the system; "state_rate" (q', v') of q, v, u.
            values: values of parameters, by symbol or name. All others are one more argument,
                in the order of the system's. Before it is `t`, a number for each sample, where
                the formulas of the quantity have the time.
            dtype: float64 or float32.
        """
        return compiled.kernel(self, quantity, values, dtype)

    @cached_property
    def ops(self) -> int:
        """Scalar operations of inverse dynamics, as a kernel does them: a fused
        multiply-add is one.
        """
        return compiled.operations(self)

    def latex(self, steps: bool = False, short: bool = False, document: bool = False) -> str:
        """LaTeX: a part of a document that uses amsmath, or a document of its own.

        Args:
            steps: with the derivation.
            short: write cos(q1 + q2) as c_12 and sin(q1) as s_1.
            document: a document of its own.
        """
        write = output_formats.document if truth(document, "document") else output_formats.latex
        return write(printing.blocks(self, steps, short))

    def markdown(self, steps: bool = False, short: bool = False) -> str:
        """Markdown with formulas between dollar signs."""
        return output_formats.markdown(printing.blocks(self, steps, short))

    def unicode(self, steps: bool = False, short: bool = False, columns: int = 80) -> str:
        """Text that fits a terminal of so many columns."""
        columns = whole_number(columns, "columns", 1)
        return output_formats.plain(printing.blocks(self, steps, short, columns - output_formats.INDENT), columns)

    def html(self, path: str | Path | None = None, steps: bool = True, short: bool = False) -> str:
        """A page of its own, which needs neither a script nor a network; saved, when
        there is a path.

        Raises:
            InputError: when there is no such directory, or nothing can be written there.
        """
        if path is not None:
            check_place(path, "path")
        page = standalone(printing.title(self), output_formats.html(printing.blocks(self, steps, short)))
        if path is not None:
            save(page, path, "path")
        return page

    def _repr_html_(self) -> str:
        return printing.notebook_html(self)

    def _repr_latex_(self) -> str:
        return printing.notebook_latex(self)

    def __repr__(self) -> str:
        constrained = f", {self.J.rows} constraints" if self.J.rows else ""
        return f"<Equations of {self.system.name} by {self.method}: {len(self.system.v)} velocities{constrained}>"


def finish(
    system: System,
    method: str,
    parts: tuple[Any, Any, Any],
    steps: list[Step],
    reactions: Mapping[str, tuple[Any, Any]] | None = None,
) -> Equations:
    """The equations from M, b and g of a method: with the generalized forces and the constraints of the system.

    Raises:
        InputError: when a coordinate takes no part, the mass matrix is singular, or constraints contradict each other.
    """
    M, b, g = (sp.ImmutableMatrix(tidy(system, x)) for x in parts)
    degeneracy.rotations(system)
    rows = constraint_rows.rows(system)
    degeneracy.constraints(system, rows)
    degeneracy.mass_matrix(system, M, rows.J)
    J, _, drift = rows
    tau = sp.ImmutableMatrix(generalized_forces.generalized_forces(system))
    equations = Equations(method, system, M, b, g, tau, J, drift, tuple(steps), reactions or {})
    return replace(equations, steps=(*steps, equations.result))

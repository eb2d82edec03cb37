"""Robot: the face that users hold, over models, algorithms and kernels."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from multibody.compiler.config import config
from multibody.errors import InputError
from multibody.geometry._arrays import batch_shape, is_traced, numbers, truth
from multibody.model import actuation, configuration, parameters, show
from multibody.model.builder import Builder
from multibody.model.diagnostics import Diagnostic
from multibody.model.joint import Joint
from multibody.model.model import Model
from multibody.model.tree import Body, Tree
from multibody.robot import kernels
from multibody.robot._compiled import Compiled
from multibody.robot._contacts import Contacts
from multibody.robot._dynamics import Dynamics
from multibody.robot._kinematics import Kinematics
from multibody.robot._surgery import Surgery


class Robot(Kinematics, Dynamics, Contacts, Surgery, Compiled):
    """A robot: its model, and everything that can be computed about it.

    Functions of q (..., nq), v, a, tau (..., nv) take single states and batches of any leading shape, which broadcast,
    lists too, `out=`, arrays for the results, and `threads=`, those over which a batch is split; they are compiled when
    first used. `with mb.eager():` runs the plain NumPy instead. What they return has the precision of the robot,
    float64 unless `astype` says otherwise. Robots are frozen: surgery returns new ones. They compare, hash, copy and
    pickle by their models, and can be shared between threads.

    >>> import multibody as mb
    >>> robot = mb.load("planar-arm")
    >>> robot.nq, robot.nv
    (3, 3)
    >>> robot.mass_matrix(robot.neutral()).shape
    (3, 3)
    """

    def __init__(self, model: Model | Builder, *, dtype: str | None = None) -> None:
        if isinstance(model, Builder):
            model = model.model()
        if not isinstance(model, Model):
            raise InputError(f"Robot: expected a Model or a Builder, got {type(model).__name__}; mb.load reads files")
        self.model = model
        self.dtype = _precision(config.dtype if dtype is None else dtype)
        self._keep_kernels()

    # ---- what it is --------------------------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The name in the file."""
        return self.model.name

    @property
    def tree(self) -> Tree:
        """What algorithms walk; `tree.with_values` varies its numbers."""
        return self.model.tree

    @property
    def nq(self) -> int:
        """The number of coordinates."""
        return self.model.nq

    @property
    def nv(self) -> int:
        """The number of velocities."""
        return self.model.nv

    @property
    def bodies(self) -> tuple[Body, ...]:
        """The moving bodies: links that are fixed to each other are one."""
        return self.model.bodies

    @property
    def joints(self) -> tuple[Joint, ...]:
        """The joints that move, each with its `name`, its places `q` and `v`, and its `limits`."""
        return self.model.joints

    @property
    def frames(self) -> tuple[str, ...]:
        """The names of all frames: every link, then extra frames."""
        return self.model.frames

    @property
    def mass(self) -> float:
        """Of the moving bodies, in kg."""
        return self.model.tree.mass

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """What the loader ignored, assumed, merged or found odd."""
        return self.model.diagnostics

    @property
    def selection(self) -> NDArray[Any]:
        """S, (actuators, nv): M a + h = S^T u + ..., u before the gears, which S has in it.  [RD 3.55-3.56]"""
        return actuation.selection(self.model)

    # ---- configurations ----------------------------------------------------------------------------------------------

    def neutral(self) -> NDArray[Any]:
        """(nq,): all joints at zero, quaternions at the identity."""
        return configuration.neutral(self.model.tree).astype(self.dtype)

    def home(self) -> NDArray[Any]:
        """(nq,): the configuration that the model starts from; the neutral one when it names none."""
        return self.neutral() if self.model.home is None else np.array(self.model.home, self.dtype)

    def random(self, rng: np.random.Generator, batch: tuple[int, ...] = ()) -> NDArray[Any]:
        """(..., nq): uniform within the limits; joints without limits within a turn or a metre to either side."""
        return configuration.random(self.model.tree, rng, batch).astype(self.dtype)

    def check(self, q: ArrayLike, *, limits: bool = True) -> NDArray[Any]:
        """q as an array, when it is a configuration of the robot; an InputError that says what is wrong otherwise."""
        return configuration.check(self.model.tree, q, limits=truth(limits, "limits"))

    def normalize(self, q: ArrayLike, *, out: Any = None, threads: int | None = None) -> NDArray[Any]:
        """q with quaternions of length one."""
        found = self._run("normalize", (q,), threads=threads)
        if not is_traced(found) and np.isnan(found).any():  # the plain source tells where there are zeros, and raises
            with np.errstate(all="ignore"):
                configuration.normalize(self.model.tree, configuration.sized(self.model.tree, q, "q"))
        return kernels.handed(found, out, self.dtype)  # last, since `out` may be q

    def integrate(self, q: ArrayLike, dv: ArrayLike, *, out: Any = None, threads: int | None = None) -> NDArray[Any]:
        """The configuration after moving at the velocity dv for one unit of time.  [MDN 77-79]"""
        return self._run("integrate", (q, dv), out, threads)

    def difference(self, q0: ArrayLike, q1: ArrayLike, *, out: Any = None, threads: int | None = None) -> NDArray[Any]:
        """The dv, the shortest, with integrate(q0, dv) = q1."""
        return self._run("difference", (q0, q1), out, threads)

    def interpolate(
        self, q0: ArrayLike, q1: ArrayLike, t: ArrayLike, *, out: Any = None, threads: int | None = None
    ) -> NDArray[Any]:
        """q0 at t = 0, q1 at t = 1, the shortest way; t of any batch shape."""
        way = self.difference(q0, q1, threads=threads)
        share = numbers(t, "t", way)
        batch_shape("q0 and q1, t", (way, 1), (share, 0))
        return self.integrate(q0, way * share[..., None], out=out, threads=threads)

    def rate_matrix(
        self, q: ArrayLike, base: str = "quaternion", *, out: Any = None, threads: int | None = None
    ) -> NDArray[Any]:
        """F(q), (..., nq, nv): q' = F(q) v.  [Kindr §Coordinate Rates; RD 2.262]

        `base` can be "euler-zyx", ...: that is plain NumPy, in one thread.
        """
        if isinstance(base, str) and base == "quaternion":
            return self._run("rate_matrix", (q,), out, threads)
        return kernels.handed(configuration.rate_matrix(self.model.tree, self._q(q), base), out, self.dtype)

    def rate_inverse(
        self, q: ArrayLike, base: str = "quaternion", *, out: Any = None, threads: int | None = None
    ) -> NDArray[Any]:
        """F^+(q), (..., nv, nq): v = F^+ q', the left inverse of `rate_matrix`.  [Kindr §Coordinate Rates; RD 2.262]"""
        if isinstance(base, str) and base == "quaternion":
            return self._run("rate_inverse", (q,), out, threads)
        return kernels.handed(configuration.rate_inverse(self.model.tree, self._q(q), base), out, self.dtype)

    def parameters(self) -> NDArray[Any]:
        """(bodies, 10): m, m c, Ixx, Ixy, Iyy, Ixz, Iyz, Izz of each moving body about its frame's origin."""
        return self.tree.parameters()

    def placements(self) -> NDArray[Any]:
        """(bodies, 7): position and quaternion w, x, y, z of each moving body's joint in its parent body."""
        return self.tree.placements()

    def positions(self) -> NDArray[Any]:
        """(bodies, 3): where each moving body's joint is in its parent body, as in `placements`: lengths of links.

        What is fixed at the end of a link, a foot or a tool, is a frame: `frame_placements` has its place.
        """
        return self.tree.positions()

    def frame_placements(self) -> NDArray[Any]:
        """(frames, 7): position and quaternion w, x, y, z of each of `frames` in the body that it is fixed to."""
        return self.tree.frame_placements()

    def check_parameters(
        self,
        inertias: ArrayLike | None = None,
        *,
        placements: ArrayLike | None = None,
        positions: ArrayLike | None = None,
        frame_placements: ArrayLike | None = None,
        gravity: ArrayLike | None = None,
    ) -> None:
        """Refuse numbers that no robot can have: kernels with `parameters` take inertias as they are, for speed.

        Args:
            inertias: (..., bodies, 10) as `parameters` has them: finite, masses positive, moments within the triangle
                inequality; all zeros where a body of the robot has no mass.
            placements: (..., bodies, 7): finite, the quaternions units.
            positions: (..., bodies, 3): finite.
            frame_placements: (..., frames, 7): finite, the quaternions units.
            gravity: (..., 3): finite.

        Raises:
            InputError: that names the first sample, and the body, joint or frame.

        >>> import multibody as mb
        >>> robot = mb.load("planar-arm")
        >>> inertias = np.tile(robot.parameters(), (100, 1, 1))
        >>> inertias[4, 2, 0] = -5.0
        >>> robot.check_parameters(inertias)
        Traceback (most recent call last):
        ...
        multibody.errors.InputError: inertias (sample 4): the body 'link3' cannot have [-5.0, ...
        """
        parameters.check_values(
            self.tree,
            inertias=inertias,
            placements=placements,
            positions=positions,
            frame_placements=frame_placements,
            gravity=gravity,
        )

    # ---- as a value --------------------------------------------------------------------------------------------------

    def astype(self, dtype: str) -> "Robot":
        """The same robot, computing in "float64" or "float32"."""
        return Robot(self.model, dtype=dtype)

    def _with(self, model: Model) -> "Robot":
        return Robot(model, dtype=self.dtype.name)

    def __str__(self) -> str:
        return show.tree(self.model)

    def __repr__(self) -> str:
        return f"<Robot {self.name!r}: nq {self.nq}, nv {self.nv}, {len(self.bodies)} bodies, {self.mass:.4g} kg>"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Robot) and self.model == other.model and self.dtype == other.dtype

    def __hash__(self) -> int:
        return hash(self.model)

    def __reduce__(self) -> tuple[Any, ...]:
        return _revive, (self.model, self.dtype.name)


def _revive(model: Model, dtype: str) -> Robot:
    return Robot(model, dtype=dtype)


def _precision(dtype: Any) -> np.dtype[Any]:
    for known in (np.dtype(np.float64), np.dtype(np.float32)):
        if isinstance(dtype, str | type | np.dtype) and dtype in (known, known.name):
            return known
    raise InputError(f"dtype: expected 'float64' or 'float32', got {dtype!r}")

"""Tests of laws that meet every kind of joint below every base, coupled joints too, whatever hypothesis draws.

`law` makes a test of a function of a `State`. It runs on the states of `covering`, then on those that hypothesis draws,
and fails when a kind of joint below some base has never been through to the end: an assumption that throws out all of
its trees leaves a gap as well.
"""

import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np
from hypothesis import example, given, settings

from multibody.algorithms.crba import crba
from multibody.model import configuration
from multibody.model.joint import Joint
from multibody.model.model import Model

from ..model.trees import MOVING, ONE_COORDINATE, random_model
from .states import State, states

FLOATING = ("kindr", "left", "right", "mixed")
BASES = ("fixed", *FLOATING)
JOINTS = 4
"""In a tree of `covering`, at most: enough to have neighbours and branches, few enough to be quick."""
CONDITION = 1e3
"""Of mass matrices in `covering`: every law holds with digits to spare."""
TRIES = 10_000
INSTEAD = 20
"""So many draws of hypothesis fewer: the states of `covering` take their place."""

Test = Callable[[State], None]


def base_of(model: Model) -> str:
    """Its velocities when the base floats, "fixed" when it stands."""
    return model.velocity if model.tree.floating else "fixed"


def way(s: State) -> list[Joint]:
    """The joints from the base to the frame that laws of kinematics look at; the base's own is left out."""
    joints = [s.model.bodies[i - 1].joint for i in s.tree.support(s.tree.frame(s.frame)[0])]
    return [joint for joint in joints if not s.tree.is_base(joint)]


def kinds_of(joints: Iterable[Joint]) -> set[str]:
    """The names of their kinds."""
    return {type(joint.kind).__name__.lower() for joint in joints}


def coupled(joints: Iterable[Joint]) -> bool:
    """Whether some joint follows another."""
    return any(joint.mimic for joint in joints)


def groups(base: str) -> Iterator[tuple[str, ...]]:
    """All kinds of joints, a few at a time; each base has other neighbours."""
    order = [str(kind) for kind in np.random.default_rng(BASES.index(base)).permutation(MOVING)]
    return (tuple(order[k : k + JOINTS]) for k in range(0, len(order), JOINTS))


def tree(base: str, kinds: Sequence[str], accept: Callable[[State], bool], **options: Any) -> State:
    """The first random tree with that base and as many joints as kinds, in a state, that is accepted and regular."""
    given_base = {} if base == "fixed" else {"floating": True, "velocity": base}
    for seed in range(TRIES):
        rng = np.random.default_rng(seed)
        model = random_model(rng, len(kinds), kinds=kinds, **given_base, **options)
        q, (v, a) = configuration.random(model.tree, rng), rng.standard_normal((2, model.nv))
        s = State(model, q, v, a, rng)
        if accept(s) and np.linalg.cond(crba(model.tree, s.q)) < CONDITION:
            return s
    raise AssertionError(f"none of {TRIES} trees with {kinds} on the base {base!r} will do")


@functools.cache
def covering(bases: Sequence[str] = BASES, *, pairs: bool = True, **options: Any) -> tuple[State, ...]:
    """Chains with every kind of joint, and trees with branches and coupled joints, in random states.

    Args:
        bases: what they stand on.
        pairs: give each base all of them, else one of them.
        options: as in `random_model`.
    """
    cases = []
    for k, base in enumerate(bases):
        chosen = [*groups(base if pairs else bases[0]), ()]  # the last is for coupled joints
        for kinds in chosen if pairs else chosen[min(k, len(chosen) - 1) :][:1]:
            cases.append(chain(base, kinds, **options) if kinds else coupled_tree(base, **options))
    return tuple(cases)


def chain(base: str, kinds: Sequence[str], **options: Any) -> State:
    """One joint of each kind, one after the other."""
    return tree(base, kinds, lambda s: kinds_of(way(s)) == set(kinds), chain=True, **options)


def coupled_tree(base: str, **options: Any) -> State:
    """Some joints follow others, on the way to the frame as well."""
    return tree(base, ONE_COORDINATE, lambda s: coupled(way(s)) and branches(s.model), mimic=0.7, **options)


def branches(model: Model) -> bool:
    """Whether some body carries two others."""
    return any(len(model.tree.children(i)) > 1 for i in range(1, len(model.bodies) + 1))


def met(s: State) -> set[tuple[str, str]]:
    """What a tree shows a law: its base with each kind of joint on the way to the frame, or with coupled joints."""
    joints = way(s)
    if coupled(s.model.joints):
        return {(base_of(s.model), "coupled")} if coupled(joints) else set()
    return {(base_of(s.model), kind) for kind in kinds_of(joints)}


def gaps(seen: set[tuple[str, str]], bases: Sequence[str], *, pairs: bool) -> list[Any]:
    """What is missing: pairs of a base with a kind of joint, or bases and kinds for themselves."""
    wanted = (*MOVING, "coupled")
    if pairs:
        return sorted({(base, what) for base in bases for what in wanted} - seen)
    return sorted({*bases, *wanted} - {name for pair in seen for name in pair})


def law(*, floating: bool = False, pairs: bool = True, **options: Any) -> Callable[[Test], Callable[[], None]]:
    """A test on random robots that meets every kind of joint below every base.

    Args:
        floating: bases that float alone.
        pairs: every kind below each base, else every kind and every base: for tests that go through all bases
            themselves.
        options: as in `random_model`.
    """
    bases = FLOATING if floating else BASES
    drawn = states(**options, floating=True) if floating else states(**options)

    def decorate(test: Test) -> Callable[[], None]:
        def run() -> None:
            seen: set[tuple[str, str]] = set()

            @functools.wraps(test)
            def on_a_robot(s: State) -> None:
                test(s)
                seen.update(met(s))

            cases = covering(bases, pairs=pairs, **options)
            draws = max(1, settings().max_examples - INSTEAD)
            checked = settings(max_examples=draws)(given(drawn)(on_a_robot))
            for k, s in enumerate(cases):
                checked = example(s._replace(rng=np.random.default_rng(k)))(checked)
            checked()
            missing = gaps(seen, bases, pairs=pairs)
            assert not missing, f"never met: {missing}"

        functools.update_wrapper(run, test)
        del vars(run)["__wrapped__"]  # pytest would look for the argument of the test
        return run

    return decorate

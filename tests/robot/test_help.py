"""`help` of the methods that everybody calls, as a terminal of 100 columns shows it."""

import inspect
import pydoc

import numpy as np
import pytest
from numpy.typing import ArrayLike

import multibody as mb
from multibody._signatures import WIDTH, described_arguments, readable, readable_methods

from ..every_law import each_case
from .robots import robot_of

METHODS = (
    "neutral random integrate difference pose velocity acceleration jacobian jacobian_dot hessian analytical_jacobian "
    "inverse_dynamics forward_dynamics mass_matrix bias gravity coriolis passive inverse_dynamics_derivatives "
    "forward_dynamics_derivatives center_of_mass com_jacobian centroidal_momentum kinetic_energy potential_energy "
    "kernel function constraints"
).split()
REPRESENTED = ("velocity", "acceleration", "jacobian", "jacobian_dot", "hessian")


def text_of(thing) -> str:
    """What help prints, without the bold letters of a terminal."""
    return pydoc.plain(pydoc.render_doc(thing))


@each_case("name", METHODS)
def test_help_is_complete_and_fits(name):
    method = getattr(robot_of("double-pendulum"), name)
    text = text_of(method)
    assert max(map(len, text.splitlines())) <= 100, max(text.splitlines(), key=len)
    described = text.partition("Args:")[2]
    for argument in inspect.signature(method).parameters:
        assert any(f"{before}{argument}{after}" in described for before, after in ((" ", ":"), ("*", ":"), ("`", "`")))
    assert "Returns:" in text
    assert ">>> " in text
    for riddle in ("Unpack", "'ArrayLike'", "Union", "_SupportsArray", "typing."):
        assert riddle not in text


@each_case("name", [name for name in dir(mb) if callable(getattr(mb, name)) and name[0] != "_"])
def test_no_public_name_shows_the_unions_of_numpy(name):
    text = text_of(getattr(mb, name))
    for riddle in ("_SupportsArray", "_NestedSequence", "numpy._typing"):
        assert riddle not in text


@each_case("name", REPRESENTED)
def test_representations_say_what_others_call_them(name):
    text = text_of(getattr(mb.Robot, name))
    for word in ('"left"', '"right"', '"mixed"', "LOCAL_WORLD_ALIGNED", "body", "spatial", "WORLD", "MuJoCo"):
        assert word in text


@pytest.mark.parametrize("name", ["inverse_dynamics", "forward_dynamics"])
def test_frames_and_signs_of_wrenches(name):
    text = " ".join(text_of(getattr(mb.Robot, name)).split())
    assert "N m on the robot, at the frame's origin along the world's axes" in text
    assert "damping, dry friction and springs" in text


def test_signatures_show_what_a_call_takes():
    """Unpacked options one by one, in the order of the call; what is shown binds, and what is not shown does not."""
    shown = inspect.signature(mb.Robot.velocity)
    assert list(shown.parameters) == ["self", "frame", "q", "v", "representation", "out", "threads", "parameters"]
    shown.bind("robot", "tip", 0, 0, out=None)
    with pytest.raises(TypeError):
        shown.bind("robot", "tip", 0, 0, thread=2)
    text = str(inspect.signature(robot_of("double-pendulum").jacobian))
    assert text.splitlines()[1] == "    frame: str, q: ArrayLike, representation: str = 'mixed', out: Any = None,"
    assert str(inspect.signature(mb.gradient)).endswith("shapes: Shapes = None,\n) -> Function")
    assert "dtype: DTypeLike | None = None" in str(inspect.signature(mb.compile))


def test_options_of_inverse_kinematics_are_those_of_the_solver():
    shown = inspect.signature(mb.Robot.inverse_kinematics).parameters
    solver = inspect.signature(mb.control.InverseKinematics).parameters.values()
    keywords = {each.name: each.annotation for each in solver if each.kind is each.KEYWORD_ONLY}
    assert {name: shown[name].annotation for name in keywords} == keywords


def short(q: "ArrayLike", /, n: int = 1) -> "float":
    """Strings, and what is none."""
    del q, n
    return 0.0


def long(first, /, q: "ArrayLike", *rest: "float", key: "str" = "a", **others: "int") -> "list[ArrayLike]":
    """Every kind of argument."""
    del first, rest, key, others
    return [q]


def test_signatures_are_those_of_python():
    """A short one on a line as Python writes it, without the quotes; a long one is the same text in lines."""
    plain = str(inspect.signature(long)).replace("'", "").replace("key: str = a", "key: str = 'a'")
    assert str(inspect.signature(readable(short))) == "(q: ArrayLike, /, n: int = 1) -> float"
    lines = str(inspect.signature(readable(long))).splitlines()
    assert " ".join(line.strip() for line in lines).replace("( ", "(").replace(", )", ")") == plain

    def keywords(*, first_of_the_long_names: "int" = 1, second_of_the_long_names: "int" = 2, third_one: "int" = 3):
        del first_of_the_long_names, second_of_the_long_names, third_one

    lines = str(inspect.signature(readable(keywords))).splitlines()
    assert lines[0] == "("
    assert lines[-1] == ")"
    assert lines[1].startswith("    *, first_of_the_long_names: int = 1,")
    assert max(map(len, lines)) <= WIDTH


def test_signatures_without_arguments():
    def nothing() -> "dict[str, list[tuple[ArrayLike, ArrayLike]]]":
        return {}

    assert str(inspect.signature(readable(nothing))) == "() -> dict[str, list[tuple[ArrayLike, ArrayLike]]]"


def test_annotations_are_still_there_for_tools():
    assert mb.Robot.bias.__annotations__["q"] == "ArrayLike"
    assert robot_of("double-pendulum").bias(np.zeros(2), np.zeros(2)).shape == (2,)


@described_arguments
@readable_methods
class Described:
    """A class.

    * q: the configuration,
      in rad.
    * out: an array.
    """

    def own(self, q, n: int = 1, *, out=None):
        """Summary.

        Args:
            n: a number: of
                times.

        Returns:
            Nothing.
        """

    def shared(self, q, *, out=None):
        """Summary.

        >>> 1
        1
        """

    def unknown(self, q, n):
        """Summary."""


def test_shared_arguments_are_described_in_the_order_of_the_signature():
    text = "Summary.\n\nArgs:\n    q: the configuration, in rad.\n    n: a number: of times.\n    out: an array.\n\n"
    assert Described.own.__doc__ == f"{text}Returns:\n    Nothing."
    assert Described.shared.__doc__ == f"{text.replace(f'    n: a number: of times.{chr(10)}', '')}>>> 1\n1"
    assert Described.unknown.__doc__ == "Summary."

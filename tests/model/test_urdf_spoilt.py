"""Robot files with random cuts: they load, or are one typed error."""

from hypothesis import given, settings
from hypothesis import strategies as st

from multibody.errors import RobotFileError
from multibody.model.load import load

from .urdf_texts import LIMIT, arm, joint, link, robot

TEXTS = (
    arm(LIMIT + '<axis xyz="0 1 0"/><dynamics damping="1"/><mimic joint="hinge"/>'),
    robot(link("a"), link("b"), link("c"), joint("j", "a", "b"), joint("k", "b", "c", kind="planar")),
    robot(link("a", '<visual><geometry><mesh filename="package://a/b.stl" scale="1 1 1"/></geometry></visual>')),
)
JUNK = (
    "",
    "0",
    "-1",
    "nan",
    "1e999",
    "1e308",
    "<",
    "/>",
    "&",
    "é",
    "--",
    "<link/>",
    "floating",
    "planar",
    "../x",
    "hinge",
)


@given(
    st.sampled_from(TEXTS), st.lists(st.tuples(st.floats(0, 1), st.integers(0, 12), st.sampled_from(JUNK)), max_size=4)
)
@settings(max_examples=200)
def test_spoilt_texts_load_or_are_one_typed_error(text: str, cuts: list[tuple[float, int, str]]) -> None:
    for place, length, junk in cuts:
        at = int(place * len(text))
        text = text[:at] + junk + text[at + length :]
    error = problem(text)
    if error is not None:
        assert error.file == "<string>"
        assert error.line is not None
        assert error.element is not None


def problem(text: str) -> RobotFileError | None:
    """What load says is wrong with a text; any other exception passes."""
    try:
        load(text.encode(), floating=True)
    except RobotFileError as error:
        return error
    return None

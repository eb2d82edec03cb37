"""Files that describe no robot: one typed error, quickly, with the file, the line and the element."""

import io
import re
import time
from pathlib import Path

import pytest

from multibody.errors import InputError, RobotFileError
from multibody.model.load import load

from ..cpu_time import cpu_limit
from ..every_law import each_case
from .urdf_texts import INERTIAL, LIMIT, arm, chain, joint, link, robot

LAUGHS = '<?xml version="1.0"?><!DOCTYPE robot [<!ENTITY a "haha">' + "".join(
    f'<!ENTITY {chr(98 + k)} "{f"&{chr(97 + k)};" * 10}">' for k in range(12)
)
INERTIA = '<inertia ixx="1" ixy="0" ixz="0" iyy="1" iyz="0" izz="1"/>'


def inertial(mass: str = "1", inertia: str = INERTIA) -> str:
    return robot(link("base", f'<inertial>\n<mass value="{mass}"/>{inertia}</inertial>'))


def shape(geometry: str) -> str:
    return robot(link("base", f"<visual><geometry>\n{geometry}</geometry></visual>"))


def mimics(**leaders: str) -> str:
    names = ("a", "b", "c")
    return robot(
        link("base"),
        *(link(f"link_{name}") for name in names),
        *(
            joint(
                name,
                "base",
                f"link_{name}",
                content=LIMIT
                + '<axis xyz="1 0 0"/>'
                + (f'<mimic joint="{leaders[name]}"/>' if name in leaders else ""),
            )
            for name in names
        ),
    )


# name: (text, line, what the element is, what the message says)
BAD: dict[str, tuple[str | bytes, int, str, str]] = {
    "empty": ("", 1, "document", "got an empty text"),
    "only spaces": (b" \n ", 1, "document", "got an empty text"),
    "truncated": (arm()[:-20], 4, "document", "expected well-formed XML"),
    "binary": (bytes(range(256)) * 8, 1, "document", "expected well-formed XML"),
    "wrong root": ("<kinematics/>", 1, "<kinematics>", r"expected the root element <robot>, got <kinematics>"),
    "no links": (robot(), 1, '<robot name="r">', "at least one link"),
    "deep nesting": ("<robot>" + "<a>" * 100_000, 1, "document", "expected well-formed XML: .*depth"),
    "billion laughs": (LAUGHS + "]><robot>&m;</robot>", 1, "document", "<!DOCTYPE> is refused|mplification"),
    "billion laughs in an attribute": (
        LAUGHS + ']><robot name="&m;"/>',
        1,
        "document",
        "DOCTYPE|mplification|entity",
    ),
    "XXE": (
        '<!DOCTYPE robot [<!ENTITY x SYSTEM "file:///etc/passwd">]><robot name="r"><link name="a"/>&x;</robot>',
        1,
        "document",
        "DOCTYPE",
    ),
    "unknown entity": ("<robot>&x;</robot>", 1, "document", "expected well-formed XML"),
    "macros": (
        '<robot xmlns:xacro="http://www.ros.org/wiki/xacro" name="r">\n<xacro:arm/></robot>',
        2,
        "<arm>",
        "expand it with xacro",
    ),
    "SDF": ("<sdf/>", 1, "<sdf>", "expected the attribute 'version'"),
    "duplicate link": (robot(link("a"), link("a")), 3, '<link name="a">', "two links are named 'a'.* line 2"),
    "duplicate joint": (
        robot(link("a"), link("b"), joint("j", "a", "b"), joint("j", "a", "b")),
        5,
        '<joint name="j">',
        "two joints are named 'j'",
    ),
    "duplicate material": (
        robot('<material name="m"><color rgba="1 1 1 1"/></material>\n' * 2, link("a")),
        3,
        '<material name="m">',
        "two materials",
    ),
    "cycle": (
        robot(link("a"), link("b"), link("c"), joint("j", "b", "c"), joint("k", "c", "b")),
        5,
        '<joint name="j">',
        "cycle through the links c -> b -> c",
    ),
    "cycle without a root": (
        robot(link("a"), link("b"), joint("j", "a", "b"), joint("k", "b", "a")),
        4,
        '<joint name="j">',
        "cycle through the links",
    ),
    "two roots": (robot(link("a"), link("b")), 3, '<link name="b">', "2 links have no parent: 'a', 'b'"),
    "two parents": (
        robot(link("a"), link("b"), link("c"), joint("j", "a", "c"), joint("k", "b", "c")),
        6,
        '<joint name="k">',
        "two parents",
    ),
    "self-joint": (robot(link("a"), joint("j", "a", "a")), 3, '<joint name="j">', "to itself"),
    "missing parent link": (robot(link("a"), joint("j", "x", "a")), 3, '<joint name="j">', "parent link 'x'"),
    "missing child link": (robot(link("a"), joint("j", "a", "x")), 3, '<joint name="j">', "child link 'x'"),
    "no child": (
        robot(link("a"), '<joint name="j" type="fixed"><parent link="a"/></joint>'),
        3,
        '<joint name="j">',
        "expected the element <child>",
    ),
    "no parent": (
        robot(link("a"), '<joint name="j" type="fixed"><child link="a"/></joint>'),
        3,
        '<joint name="j">',
        "expected the element <parent>",
    ),
    "child without a link": (
        robot(link("a"), '<joint name="j" type="fixed">\n<parent link="a"/><child/></joint>'),
        4,
        '<child> in <joint name="j">',
        "expected the attribute 'link', got none",
    ),
    "unknown type": (arm(kind="ball"), 4, '<joint name="hinge">', "expected one of revolute, .* got 'ball'"),
    "no type": (
        robot(link("a"), '<joint name="j"><parent link="a"/></joint>'),
        3,
        '<joint name="j">',
        "expected the attribute 'type'",
    ),
    "empty link name": (robot(link("")), 2, '<link name="">', "expected the attribute 'name', got ''"),
    "link without a name": (
        robot("<link/>"),
        2,
        '<link> in <robot name="r">',
        "expected the attribute 'name', got none",
    ),
    "empty joint name": (
        robot(link("a"), link("b"), joint("", "a", "b")),
        4,
        '<joint name="">',
        "expected the attribute 'name'",
    ),
    "mimic of a missing joint": (mimics(a="x"), 6, '<joint name="a">', "mimics the joint 'x', which does not exist"),
    "mimic of itself": (mimics(a="a"), 6, '<joint name="a">', "mimics itself"),
    "mimic in a circle": (mimics(a="b", b="c", c="a"), 6, '<joint name="a">', "a -> b -> c -> a"),
    "mimic without a joint": (arm(LIMIT + '<axis xyz="0 0 1"/>\n<mimic/>'), 5, "<mimic> in", "attribute 'joint'"),
    "mimic with a bad ratio": (
        arm(LIMIT + '<axis xyz="0 0 1"/>\n<mimic joint="hinge" multiplier="two"/>'),
        5,
        "<mimic> in",
        "multiplier: .* 'two'",
    ),
    "zero axis": (arm(LIMIT + '\n<axis xyz="0 0 0"/>'), 5, '<axis> in <joint name="hinge">', "not zero, got '0 0 0'"),
    "NaN axis": (arm(LIMIT + '\n<axis xyz="nan 0 1"/>'), 5, '<axis> in <joint name="hinge">', "finite.*'nan 0 1'"),
    "axis without numbers": (arm(LIMIT + "\n<axis/>"), 5, '<axis> in <joint name="hinge">', "attribute 'xyz'"),
    "NaN origin": (arm('\n<origin xyz="0 nan 0"/>').replace('<origin xyz="0 0 1"/>', ""), 5, "<origin> in", "finite"),
    "infinite origin": (
        arm('\n<origin rpy="0 inf 0"/>').replace('<origin xyz="0 0 1"/>', ""),
        5,
        "<origin> in",
        "rpy: expected finite numbers",
    ),
    "short vector": (
        arm(LIMIT + '\n<axis xyz="0 1"/>'),
        5,
        '<axis> in <joint name="hinge">',
        "expected 3 numbers .*'0 1'",
    ),
    "long vector": (arm(LIMIT + '\n<axis xyz="0 1 0 0"/>'), 5, "<axis> in", "expected 3 numbers"),
    "comma": (inertial("1,5"), 3, '<mass> in <inertial> in <link name="base">', "finite numbers.*'1,5'"),
    "overflow": (inertial("1e400"), 3, "<mass> in", "finite numbers.*'1e400'"),
    "underscore": (inertial("1_0"), 3, "<mass> in", "finite numbers"),
    "hexadecimal": (inertial("0x10"), 3, "<mass> in", "finite numbers"),
    "two numbers": (inertial("1 2"), 3, "<mass> in", "expected one number, got '1 2'"),
    "no number": (inertial(""), 3, "<mass> in", "expected one number, got ''"),
    "digits of another script": (inertial("٣"), 3, "<mass> in", "finite numbers"),
    "negative mass": (inertial("-1"), 3, "<mass> in", "not negative, got -1 kg"),
    "no mass": (
        robot(link("a", f"\n<inertial>{INERTIA}</inertial>")),
        3,
        "<inertial> in",
        "expected the element <mass>",
    ),
    "no inertia": (
        robot(link("a", '\n<inertial><mass value="1"/></inertial>')),
        3,
        "<inertial> in",
        "element <inertia>",
    ),
    "inertia without izz": (inertial("1", INERTIA.replace('izz="1"', "")), 3, "<inertia> in", "the attribute 'izz'"),
    "indefinite inertia": (
        inertial("1", INERTIA.replace('ixy="0"', 'ixy="2"')),
        2,
        '<inertial> in <link name="base">',
        "without negative principal moments, got -1 kg",
    ),
    "negative inertia": (inertial("1", INERTIA.replace('iyy="1"', 'iyy="-1"')), 2, "<inertial> in", "got -1 kg"),
    "reversed limits": (
        arm('\n<limit lower="1" upper="-1" velocity="1" effort="1"/>'),
        5,
        '<limit> in <joint name="hinge">',
        "expected lower <= upper, got 1 and -1",
    ),
    "NaN limit": (arm('\n<limit lower="nan" upper="1" velocity="1" effort="1"/>'), 5, "<limit> in", "lower: .*'nan'"),
    "negative effort": (
        arm('\n<limit lower="0" upper="1" velocity="1" effort="-1"/>'),
        5,
        "<limit> in",
        "effort: .* -1",
    ),
    "negative damping": (arm(LIMIT + '\n<dynamics damping="-1"/>'), 5, "<dynamics> in", "damping: .* got -1"),
    "negative radius": (
        shape('<sphere radius="-1"/>'),
        3,
        '<sphere> in <geometry> in <visual> in <link name="base">',
        "-1",
    ),
    "NaN size": (shape('<box size="1 nan 1"/>'), 3, "<box> in", "finite numbers.*'1 nan 1'"),
    "zero length": (shape('<cylinder radius="1" length="0"/>'), 3, "<cylinder> in", "positive number"),
    "negative capsule": (shape('<capsule radius="1" length="-2"/>'), 3, "<capsule> in", "positive number"),
    "zero mesh scale": (shape('<mesh filename="a.stl" scale="1 0 1"/>'), 3, "<mesh> in", "scale: .* not 0"),
    "NaN mesh scale": (shape('<mesh filename="a.stl" scale="1 nan 1"/>'), 3, "<mesh> in", "scale: expected finite"),
    "mesh without a file": (shape("<mesh/>"), 3, "<mesh> in", "attribute 'filename'"),
    "unknown shape": (shape("<torus/>"), 2, "<geometry> in", "expected one of <box>.* got <torus>"),
    "two shapes": (shape('<sphere radius="1"/>' * 2), 2, "<geometry> in", "got <sphere>, <sphere>"),
    "no shape": (robot(link("a", "\n<visual/>")), 3, '<visual> in <link name="a">', "expected the element <geometry>"),
    "short color": (
        robot('<material name="m">\n<color rgba="1 1 1"/></material>', link("a")),
        3,
        '<color> in <material name="m">',
        "expected 4 numbers",
    ),
}


@pytest.mark.parametrize("name", BAD)
def test_a_bad_file_is_one_error_that_says_where(name: str, tmp_path: Path) -> None:
    text, line, element, message = BAD[name]
    path = tmp_path / ("robot.sdf" if name == "SDF" else "robot.urdf")
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    start = time.process_time()
    with pytest.raises(RobotFileError, match=message) as caught:
        load(path)
    assert time.process_time() - start < cpu_limit(5.0)
    error = caught.value
    assert error.file == str(path)
    assert error.line == line
    assert error.element is not None
    assert error.element.startswith(element)
    assert str(error).startswith(f"{path}:{line} {element}")


@each_case("name", [name for name in BAD if name != "empty"])
def test_a_bad_text_is_the_same_error_without_a_file(name: str) -> None:
    text, line, element, message = BAD[name]
    message = message.replace("<robot>, got", r"<robot> \(URDF\), <mujoco> \(MJCF\) or <sdf>, got")
    with pytest.raises(RobotFileError, match=message) as caught:
        load(text if isinstance(text, bytes) else text.encode())
    assert str(caught.value).startswith(f"<string>:{line} {element}")


def test_a_directory_is_no_robot(tmp_path: Path) -> None:
    with pytest.raises(RobotFileError, match=f"{tmp_path}: expected a robot file, found a directory"):
        load(tmp_path)


def test_a_path_to_nothing_says_so(tmp_path: Path) -> None:
    with pytest.raises(RobotFileError, match="found nothing"):
        load(tmp_path / "robot.urdf")


def test_a_misspelt_name_gets_the_nearest_ones(tmp_path: Path) -> None:
    with pytest.raises(RobotFileError, match=r"'scarra' is neither a file nor an embedded robot; did you mean 'scara'"):
        load("scarra")
    (tmp_path / "panda.urdf").write_text(arm())
    with pytest.raises(RobotFileError, match=r"did you mean .*'panda.urdf'"):
        load(str(tmp_path / "pandas.urdf"))


@pytest.mark.parametrize("source", [None, 3, ["a.urdf"]])
def test_what_is_no_source_is_refused(source: object) -> None:
    with pytest.raises(InputError, match="expected a path, the name of a robot, an open file or XML, got"):
        load(source)  # type: ignore[arg-type]


@each_case(
    "options, message",
    [
        ({"mimic": "yes"}, "mimic: expected one of 'coupled', 'independent'"),
        ({"format": "dae"}, "format: expected one of 'urdf'"),
        ({"format": "mjcf"}, "expected the root element <mujoco>, got <robot>"),
        ({"snap": -1.0}, "snap: expected a number from 0"),
        ({"snap": float("nan")}, "snap: expected a number from 0"),
        ({"velocity": "fast"}, "velocity: expected one of"),
        ({"gravity": (0, 0)}, "gravity: expected three"),
        ({"roots": ["/no/such/directory"]}, "roots: expected directories"),
    ],
)
def test_bad_options_are_refused(options: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        load(arm(), **options)  # type: ignore[arg-type]


def test_a_text_that_is_not_unicode_is_refused() -> None:
    with pytest.raises(RobotFileError, match="lone surrogate") as caught:
        load("<robot>\n\ud800</robot>")
    assert caught.value.line == 2
    with pytest.raises(RobotFileError, match="cannot be read"):
        load(io.TextIOWrapper(io.BytesIO(b"<robot>\xff</robot>"), encoding="utf-8"))


def test_a_long_chain_loads_in_seconds() -> None:
    start = time.process_time()
    model = load(chain(5000))
    assert time.process_time() - start < cpu_limit(10.0)
    assert model.nv == 5000
    assert len(model.tree.support(5000)) == 5000


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16"])
def test_lines_are_right_in_long_files(encoding: str) -> None:
    text = robot(link("a"), "<!-- x -->\n" * 70_000, link("b"), link("b"))
    with pytest.raises(RobotFileError, match=r"<string>:70004 <link .* on line 70003"):
        load(text.encode(encoding))


def test_an_inertia_that_its_body_outweighs_is_a_warning() -> None:
    # By itself -1.1, with the base at the same place -0.1, a metre above it 0.4 kg m².
    odd = INERTIAL.replace('ixy="0"', 'ixy="2.1"')
    text = robot(link("base"), link("lid", odd), joint("weld", "base", "lid", kind="fixed", content=""))
    (warning,) = (d for d in load(text).diagnostics if "negative principal" in d.message)
    assert (warning.level, warning.code, warning.line) == ("warning", "inertia", 3)


def test_a_moment_that_is_negative_by_rounding_is_taken_for_zero() -> None:
    tiny = re.sub(r'(i..)="[01]"', r'\1="-1e-20"', INERTIAL)
    assert load(robot(link("base", tiny)), floating=True).tree.mass == 1


def test_moments_that_overflow_are_refused() -> None:
    text = re.sub(r'(i..)="[01]"', r'\1="1e308"', INERTIAL).replace("<mass", '<origin rpy="1 1 1"/><mass')
    with pytest.raises(RobotFileError, match="overflow"):
        load(robot(link("base", text)))

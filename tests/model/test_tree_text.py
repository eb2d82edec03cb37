"""The printed tree: what it says of small robots, word for word, and that it says something of all."""

import numpy as np

from multibody.model.builder import Builder
from multibody.model.joint import Limits, Mimic
from multibody.model.joints import Fixed, Helical, Prismatic, Revolute, Schoenflies, Spherical, Universal
from multibody.model.shapes import Sphere
from multibody.model.tree_text import WIDTH, tree

from ..every_law import each_case
from .trees import random_model


def hand():
    b = Builder("hand").body("forearm").body("palm", shape=Sphere(0.1), mass=1.5)
    b.joint("wrist", Revolute("-y"), parent="forearm", child="palm", limits=Limits(-1.0, 1.25))
    b.body("ring").joint("weld", Fixed(), parent="palm", child="ring").frame("camera", "ring")
    b.body("left").joint("l", Prismatic("x"), parent="palm", child="left", limits=Limits(lower=0.0))
    b.body("right").joint("r", Prismatic((1, 1, 0)), parent="palm", child="right", mimic=Mimic("l", -2.0, -0.5))
    b.body("nail").joint("screw", Helical("z", pitch=0.01), parent="right", child="nail")
    return b


def test_every_part_is_shown():
    assert tree(hand().model()).splitlines() == [
        "hand: 4 bodies on a fixed base, nq = 3, nv = 3, 1.5 kg, 1 coupled",
        "",
        "world",
        "│  + forearm",
        "└─ palm      wrist  revolute -y                -1 … 1.25 rad  1.5 kg",
        "   │  + ring",
        "   │  · camera",
        "   ├─ left   l      prismatic x                0 … ∞ m        0 kg",
        "   └─ right  r      prismatic (0.71, 0.71, 0)  = -2 l - 0.5   0 kg",
        "      nail   screw  helical z 0.01 m/rad                      0 kg",
    ]


def test_a_floating_base_and_a_single_body():
    (head, _, *rows) = tree(Builder("stone").body("stone").model(floating=True)).splitlines()
    assert head == "stone: 1 body on a floating base, nq = 7, nv = 6, 0 kg"
    assert rows == ["world", "└─ stone  floating_base  floating  0 kg"]
    assert tree(Builder("rock").body("rock").model()).splitlines()[2:] == ["world", "   + rock"]


def test_joints_with_several_coordinates():
    b = Builder("kinds").body("base")
    for k, kind in enumerate((Universal("x", "-z"), Schoenflies("y"), Spherical())):
        b.body(f"b{k}").joint(f"j{k}", kind, parent="base", child=f"b{k}", limits=Limits(-1.0) if k == 1 else Limits())
    assert tree(b.model()).splitlines()[4:] == [
        "├─ b0  j0  universal x -z           0 kg",
        "├─ b1  j1  schoenflies y   limited  0 kg",
        "└─ b2  j2  spherical                0 kg",
    ]


def test_long_names_take_two_rows_and_are_not_cut():
    name = "a_link_with_a_name_that_is_as_long_as_names_of_gripper_parts_are"
    b = hand().body(name).joint(f"{name}_joint", Revolute("z"), parent="left", child=name)
    rows = tree(b.model()).splitlines()
    k = next(k for k, row in enumerate(rows) if row.endswith(name))
    assert rows[k] == f"   │  {name}"
    assert rows[k + 1] == f"   │     by {name}_joint, revolute z, 0 kg"
    assert max(map(len, rows)) <= WIDTH
    assert any(row.startswith("└─ palm      wrist  revolute -y") for row in rows)


@each_case("seed", range(10))
def test_every_name_is_there_once_and_rows_fit(seed):
    model = random_model(np.random.default_rng(seed), 15, mimic=0.3, floating=seed % 2 == 0)
    text = tree(model)
    words = text.split("\n", 1)[1].replace(",", " ").split()
    for name in (*(link.name for link in model.links), *(j.name for j in model.joints if j.mimic is None)):
        followers = sum(j.mimic is not None and j.mimic.joint == name for j in model.joints)
        frames = sum(f.name == f"{name} tool" for f in model.extra_frames)
        assert sum(word.lstrip("-") == name for word in words) == 1 + followers + frames
    assert max(map(len, text.splitlines())) <= WIDTH


def test_lines_lead_to_the_parent():
    """The parent of a body, read from the drawing: the body above in the column, or that of the fork."""
    model = random_model(np.random.default_rng(2), 7, kinds=["revolute"], massless=0.0)
    above: dict[str, str] = {}
    seen: list[tuple[int, str]] = []  # column and name of the bodies so far
    for row in tree(model).splitlines()[3:]:
        name = row.lstrip("│├└─ ").split()[0]
        if name in ("+", "·"):
            continue
        column, fork = row.index(name), "─" in row
        while seen and seen[-1][0] > column:
            seen.pop()
        if fork:  # what hangs in the same column, in the branches before, is no parent
            while seen and seen[-1][0] >= column:
                seen.pop()
        above[name] = seen[-1][1] if seen else "world"
        seen.append((column, name))
    names = ["world", *(body.name for body in model.bodies)]
    assert above == {body.name: names[body.parent] for body in model.bodies}
    assert len({body.parent for body in model.bodies}) < len(model.bodies)  # there is a fork


def test_long_chains_are_flat_and_shortened():
    b = Builder("chain").body("link0")
    for k in range(1, 1501):
        b.body(f"link{k}").joint(f"joint{k}", Revolute("y"), parent=f"link{k - 1}", child=f"link{k}")
    model = b.model()
    rows = tree(model).splitlines()
    assert max(map(len, rows[2:])) < 50
    assert len(rows) == 403
    assert "⋮  1102 more rows" in rows
    assert rows[-1].startswith("   link1500  joint1500")
    assert len(tree(model, rows=5000).splitlines()) == 1504


def test_combs_do_not_run_out_of_the_page():
    b = Builder("comb").body("link0")
    for k in range(1, 300):
        b.body(f"link{k}").joint(f"joint{k}", Revolute("y"), parent=f"link{k - 1}", child=f"link{k}")
        b.body(f"tooth{k}").joint(f"t{k}", Revolute("y"), parent=f"link{k - 1}", child=f"tooth{k}")
    rows = tree(b.model(), rows=1000).splitlines()
    assert max(map(len, rows)) < WIDTH
    assert any("(299) link299" in row for row in rows)

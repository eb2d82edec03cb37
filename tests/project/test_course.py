"""The notebooks of the course run without other files, and each check accepts right answers and rejects mistakes."""

import csv
import re
import sys
from pathlib import Path

import nbconvert
import nbformat
import numpy as np
import pytest
from nbclient import NotebookClient

import multibody as mb

from ..every_law import each_case

ROOT = Path(__file__).resolve().parents[2]
sys.path[:0] = [str(ROOT / "docs"), str(ROOT / "docs" / "course")]
import course_notebooks  # noqa: E402
from checks import floating_base, grading, jacobians, rotations, whole_body  # noqa: E402

PAGES = course_notebooks.pages()
SESSIONS = (rotations, jacobians, floating_base, whole_body)
TAG = re.compile(r"RD ((?:§|Alg\. |Ex\. )?\d[\d.]*\d)((?:[–,] ?\d[\d.]*\d)*)")
skew, pinv, inverse, eye = grading.skew, np.linalg.pinv, np.linalg.inv, np.eye


def verdict(cell: nbformat.NotebookNode) -> str:
    """The text of the verdict that a cell shows."""
    return cell.outputs[-1].data["text/plain"]


@pytest.fixture(scope="module", params=PAGES, ids=lambda page: page.stem)
def notebook(request, tmp_path_factory) -> nbformat.NotebookNode:
    """The notebook of a session as students get it, run in an empty folder."""
    folder = tmp_path_factory.mktemp("course")
    course_notebooks.write(folder)
    notebook = nbformat.read(folder / f"{request.param.stem}.ipynb", as_version=4)
    nbformat.validate(notebook)
    empty = tmp_path_factory.mktemp("student")
    resources = {"metadata": {"path": str(empty)}}
    NotebookClient(notebook, timeout=500, iopub_timeout=500, resources=resources).execute()  # also on a busy machine
    return notebook


def test_checks_leave_open_exercises_open_and_accept_the_answers(notebook):
    tagged = [cell for cell in notebook.cells if cell.cell_type == "code" and cell.metadata.get("tags")]
    exercises, answers = tagged[::2], tagged[1::2]
    assert 5 <= len(exercises) == len(answers) <= 8
    for number, (exercise, answer) in enumerate(zip(exercises, answers, strict=True), 1):
        assert (exercise.metadata["tags"], answer.metadata["tags"]) == (["exercise"], ["hide-cell"])
        assert re.match(rf"… Exercise \d\.{number}: replace the dots", verdict(exercise))
        assert re.match(rf"✓ Exercise \d\.{number}: ", verdict(answer))
        assert answer.metadata["jupyter"]["source_hidden"]


def test_all_other_cells_run_without_complaints(notebook):
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert [output for output in outputs if output.output_type in ("error", "stream")] == []
    verdicts = [output.data["text/plain"] for output in outputs if "Exercise" in output.data.get("text/plain", "")]
    assert [text for text in verdicts if text.startswith("✗")] == []


def test_a_page_of_the_notebook_shows_robots_and_plots(notebook):
    page, _ = nbconvert.HTMLExporter().from_notebook_node(notebook)
    assert page.count('src="data:image/png;base64,') >= 2
    assert 'data-mime-type="application/vnd.jupyter.stderr"' not in page
    assert "border-left: 4px solid" in page


def test_every_session_has_its_checks():
    for page, session in zip(PAGES, SESSIONS, strict=True):
        text = page.read_text(encoding="utf-8")
        assert f"from checks import {session.__name__.split('.')[-1]} as checks" in text
        called = set(re.findall(r"^checks\.(\w+)\(", text, re.MULTILINE))
        assert called == {name for name, check in vars(session).items() if hasattr(check, "__wrapped__")}


@each_case("path", [*PAGES, *sorted((ROOT / "docs" / "course" / "checks").glob("*.py"))], ids=lambda path: path.name)
def test_equation_numbers_are_those_of_the_index(path):
    with (ROOT / "src" / "multibody" / "textbook" / "equations.csv").open(encoding="utf-8", newline="") as file:
        known = {(row["kind"], row["number"]) for row in csv.DictReader(file) if row["document"] == "RD"}
    for first, more in TAG.findall(path.read_text(encoding="utf-8")):
        for number in [first, *re.findall(r"\d[\d.]*\d", more)]:
            kind = "section" if number.startswith("§") else "equation"
            assert (kind, number.lstrip("§")) in known, f"{path.name}: [RD {number}]"


def elementary(c, s):
    """A matrix of a turn about z."""
    return [[c, -s, 0], [s, c, 0], [0, 0, 1]]


def euler(C, order=(0, 1, 2)):
    """ZYX angles in another order."""
    return mb.Rotation.from_matrix(C).euler("zyx")[list(order)]


def product(a, b):
    """The product of quaternions."""
    return np.concatenate([[a[0] * b[0] - a[1:] @ b[1:]], a[0] * b[1:] + b[0] * a[1:] + np.cross(a[1:], b[1:])])


def vector(W):
    """The vector of a skew matrix."""
    return np.array([W[2, 1], W[0, 2], W[1, 0]])


def log(C):
    """The rotation vector of a matrix."""
    return mb.Rotation.from_matrix(C).rotation_vector


def search(position, C_IB, q, *, sign=1.0, world=True, steps=60, rows=6):
    """Inverse kinematics, with mistakes."""
    robot = mb.load("panda")
    for _ in range(steps):
        pose = robot.pose("tool", q)
        C = pose.rotation.matrix
        turn = log(C_IB @ C.T) if world else log(C.T @ C_IB)
        error = np.concatenate([position - pose.position, turn])[:rows]
        q = q + 0.5 * sign * pinv(robot.jacobian("tool", q)[:rows]) @ error
    return q


CAMERA = np.array([[0, -0.8, 0.6], [-1, 0, 0], [0, -0.6, -0.8]])
CUP = np.array([0.4, 0, 0.9]) + CAMERA @ [0.05, -0.02, 0.4]
PRODUCT = (np.zeros((3, 18)), np.zeros((3, 24)))


def levels_by_null_space(levels):
    """The answer to exercise 4.5, by bases of null spaces instead of projectors."""
    x, Z = np.zeros(levels[0][0].shape[1]), eye(levels[0][0].shape[1])
    for A, b in levels:
        x = x + Z @ pinv(A @ Z, rcond=1e-9) @ (b - A @ x)
        _, sizes, V = np.linalg.svd(A @ Z)
        Z = Z @ V[np.sum(sizes > 1e-9) :].T
    return x


def without_projector(levels):
    """The sum of all pseudo-inverses."""
    return sum(pinv(A) @ b for A, b in levels)


def stacked(levels):
    """All levels at once."""
    return pinv(np.vstack([A for A, _ in levels])) @ np.concatenate([b for _, b in levels])


def quintic(t, T):
    """A smoother rise than the answer of exercise 4.7."""
    s = np.clip(t / T, 0, 1)
    value, rate = s**3 * (10 - 15 * s + 6 * s * s), 30 * s**2 * (1 - s) ** 2 / T
    return value, rate, 60 * s * (1 - s) * (1 - 2 * s) / T**2


def cubic(t, T, divide=True):
    """The rise of exercise 4.7, with a mistake."""
    s, T = np.clip(t / T, 0, 1), T if divide else 1.0
    return 3 * s**2 - 2 * s**3, 6 * s * (1 - s) / T, (6 - 12 * s) / T**2 * (0 < s < 1)


def force_columns(number, F, first=18, sign=1.0):
    """The task of exercise 4.4, with mistakes."""
    A = np.zeros((3, 42))
    A[:, first + 3 * number : first + 3 * number + 3] = eye(3)
    return A, sign * F


def effective_mass(M, J):
    """The inertia at the contacts."""
    return inverse(J @ inverse(M) @ J.T)


def kinematic(J):
    """The projector without the mass matrix."""
    return eye(J.shape[1]) - pinv(J) @ J


def transposed_projector(M, h, J, S, a):
    """The torques of exercise 3.6 with N_c in place of its transpose."""
    N = eye(18) - inverse(M) @ J.T @ effective_mass(M, J) @ J
    return pinv(N @ S.T, rcond=1e-9) @ N @ (M @ a + h)


def log_of(path):
    """A log in which the left fore foot rises, and others slip."""
    robot = mb.load("quadruped")
    q = np.tile(robot.home(), (3, 1))
    if "high" in path:
        q[1, 8:10] += [0.5, -1.2]  # hip and knee of the left fore leg
    if "slips" in path:
        q[1:, 10] += 0.1
    if "tips" in path:
        q[2, 3:7] = [0.8, 0.6, 0.0, 0.0]
    return {"q": q}


ALTERNATIVES = {
    "elementary_rotation": [lambda a: mb.Rotation.elementary("z", a), lambda a: elementary(np.cos(a), np.sin(a))],
    "camera": [(CAMERA.tolist(), CUP[:, None])],
    "zyx_angles": [lambda C: euler(C) * [1, -1, 1] + np.pi],
    "rodrigues": [mb.Rotation.from_rotation_vector],
    "quaternion_product": [lambda a, b: -product(a, b), lambda a, b: list(product(a, b))],
    "angular_velocity": [lambda C, D, dt: log(D @ C.T) / dt],
    "damped_inverse": [lambda J, k: pinv(np.vstack([J, k * eye(J.shape[1])]))[:, : len(J)]],
    "two_tasks": [lambda *pairs: mb.control.prioritised([pairs[:2], pairs[2:]])[0]],
    "support_consistent": [lambda J, K, w: pinv(np.vstack([J, K])) @ np.r_[np.zeros(len(J)), w]],
    "standing_torque": [lambda M, h, J, S, a: (np.hstack([S.T, J.T]), M @ a + h)],
    "inverse_kinematics": [
        lambda p, C, q: (
            mb.load("panda")
            .inverse_kinematics(
                "tool", mb.Pose(mb.Rotation.from_matrix(C), p), q, limits=False, position_tolerance=1e-6
            )
            .q
        )
    ],
    "motion_equations": [lambda M, h, J, S: (-np.hstack([M, J.T, -S.T]), h)],
    "solve": [levels_by_null_space],
    "com_target": [[-0.05, -0.03], [-0.06, -0.03, 0.26]],
    "rise": [quintic],
}
"""Right answers that differ from those of the pages."""
least = ALTERNATIVES["standing_torque"][0]
ALTERNATIVES["standing_torque"] = [lambda *given: (pinv(least(*given)[0]) @ least(*given)[1])[:12]]

MISTAKES = {
    "elementary_rotation": [
        (lambda a: elementary(np.cos(a), -np.sin(a)), "transpose"),
        (lambda a: elementary(np.cos(np.deg2rad(a)), np.sin(np.deg2rad(a))), "rad"),
        (lambda a: elementary(np.cos(a), np.sin(a))[:2], "shape"),
        (lambda a: a / [], "raised TypeError"),
    ],
    "camera": [
        ((CAMERA.T, CUP), "transpose"),
        ((CAMERA @ np.diag([1, -1, 1]), CUP), "left-handed"),
        ((CAMERA, CUP - [0.4, 0, 0.9]), "position of the camera"),
        ((CAMERA, [0.45, -0.02, 1.3]), "different frames"),
    ],
    "relative_rotation": [
        (lambda A, B: A @ B, "inner letters"),
        (lambda A, B: B @ A.T, "as seen from I"),
        (lambda A, B: B.T @ A, "inverse"),
    ],
    "zyx_angles": [
        (lambda C: euler(C, (2, 1, 0)), "yaw first"),
        (lambda C: np.rad2deg(euler(C)), "degrees"),
        (lambda C: euler(C.T), "transpose"),
        (lambda C: [np.arctan(C[1, 0] / C[0, 0]), np.arcsin(-C[2, 0]), np.arctan(C[2, 1] / C[2, 2])], "arctan2"),
        (lambda C: euler(C) * [1, -1, 1], "signs"),
    ],
    "rodrigues": [
        (lambda p: mb.Rotation.from_rotation_vector(-p), "transpose"),
        (lambda p: eye(3) + skew(p), "first order"),
        (
            lambda p: mb.Rotation.from_rotation_vector(p).matrix if p.any() else np.full((3, 3), np.nan),
            "identity there",
        ),
    ],
    "quaternion_product": [
        (lambda a, b: product(b, a), "exchanged"),
        (lambda a, b: np.roll(product(np.roll(a, 1), np.roll(b, 1)), -1), "real part"),
        (lambda a, b: a * b, "differ"),
    ],
    "angular_velocity": [
        (lambda C, D, dt: vector(C.T @ (D - C) / dt), "axes of B"),
        (lambda C, D, dt: -vector((D - C) / dt @ C.T), "sign"),
        (lambda C, D, dt: vector((D - C) @ C.T), "divide"),
    ],
    "planar_position": [
        (lambda q: [np.sin(np.cumsum(q)).sum(), np.cos(np.cumsum(q)).sum()], "post"),
        (lambda q: [np.sin(q).sum(), 1 + np.cos(q).sum()], "turns with the first"),
        (lambda q: [np.cos(np.cumsum(q)).sum(), 1 + np.sin(np.cumsum(q)).sum()], "exchanged"),
    ],
    "geometric_jacobian": [
        (lambda n, r, e: np.vstack([np.cross(e - r, n).T, n.T]), "sign"),
        (lambda n, r, e: np.vstack([n.T, np.cross(n, e - r).T]), "first"),
        (lambda n, r, e: np.vstack([np.cross(n, e).T, n.T]), "world's origin"),
        (lambda n, r, e: np.hstack([np.cross(n, e - r), n]), "shape"),
    ],
    "damped_inverse": [
        (lambda J, k: J.T @ inverse(J @ J.T + k * eye(len(J))), "squared"),
        (lambda J, k: pinv(J), "without damping"),
    ],
    "redundant_velocity": [
        (lambda J, w, v: pinv(J) @ w + v, "projector N is missing"),
        (lambda J, w, v: pinv(J) @ w, "null-space motion"),
        (lambda J, w, v: pinv(J) @ (w + J @ v), "1 - J⁺J"),
    ],
    "two_tasks": [
        (lambda J, w, K, x: pinv(J) @ w + pinv(K) @ (x - K @ pinv(J) @ w), "N_1"),
        (lambda J, w, K, x: pinv(np.vstack([J, K])) @ np.r_[w, x], "same priority"),
        (lambda J, w, K, x: pinv(J) @ w + kinematic(J) @ pinv(K @ kinematic(J), rcond=1e-9) @ x, "subtract"),
    ],
    "rotation_error": [
        (lambda A, B: log(A.T @ B), "axes of A"),
        (lambda A, B: log(A @ B.T), "target to the current"),
        (lambda A, B: log(B) - log(A), "differ"),
    ],
    "inverse_kinematics": [
        (lambda p, C, q: search(p, C, q, sign=-1.0, steps=20), "sign of the error"),
        (lambda p, C, q: search(p, C, q, rows=3), "orientation is off"),
        (lambda p, C, q: search(p, C, q, steps=2), "enough iterations"),
        (lambda p, C, q: search(p, C, q, world=False), "off by"),
    ],
    "base_velocity": [
        (lambda C, v, w: np.r_[v, w], "axes of the world"),
        (lambda C, v, w: np.r_[C @ v, C @ w], "axes of the base"),
        (lambda C, v, w: np.r_[w, C @ v], "first"),
    ],
    "foot_jacobian": [
        (lambda C, r, J: np.hstack([eye(3), C @ skew(r), C @ J]), "minus"),
        (lambda C, r, J: np.hstack([eye(3), -skew(r), J]), "two blocks"),
        (lambda C, r, J: np.hstack([eye(3), -C @ skew(r), J]), "columns of the joints"),
    ],
    "contact_ranks": [
        (([3, 0], [6, 0], [6, 3], [6, 6]), "line through both feet"),
        (([3, 0], [5, 1], [6, 9], [6, 12]), "subtract"),
        (([3, 0], [5, 1], [9, 0], [12, 0]), "six directions"),
        (([3, 0], [5, 1], [6, 2], [6, 6]), "three feet"),
    ],
    "support_consistent": [
        (lambda J, K, w: pinv(K) @ w, "feet move"),
        (lambda J, K, w: kinematic(J) @ pinv(K) @ w, "not met"),
    ],
    "contact_force": [
        (lambda M, h, J, r, t: -effective_mass(M, J) @ (J @ inverse(M) @ (t - h) + r), "force on the robot"),
        (lambda M, h, J, r, t: effective_mass(M, J) @ J @ inverse(M) @ (t - h), "missing"),
        (lambda M, h, J, r, t: effective_mass(M, J) @ (J @ inverse(M) @ (t - h) - r), "wrong sign"),
    ],
    "standing_torque": [
        (lambda M, h, J, S, a: S @ (M @ a + h), "in the air"),
        (
            lambda M, h, J, S, a: -pinv(kinematic(J) @ S.T, rcond=1e-9) @ kinematic(J) @ (M @ a + h),
            "sign",
        ),
        (transposed_projector, "both places"),
    ],
    "after_impact": [
        (lambda M, J, u: kinematic(J) @ u, "momentum"),
        (lambda M, J, u: u + inverse(M) @ J.T @ effective_mass(M, J) @ J @ u, "wrong sign"),
        (lambda M, J, u: u - 2 * inverse(M) @ J.T @ effective_mass(M, J) @ J @ u, "rebound"),
    ],
    "spring": [
        (lambda k, R, V, A, r, v: A - k * (R - r) - 2 * k**0.5 * (V - v), "signs"),
        (lambda k, R, V, A, r, v: A + k * (R - r) + k**0.5 * (V - v), "half"),
        (lambda k, R, V, A, r, v: A + k * (R - r) - 2 * k**0.5 * v, "v_wanted"),
        (lambda k, R, V, A, r, v: k * (R - r) + 2 * k**0.5 * (V - v), "acceleration of the target"),
    ],
    "motion_equations": [
        (lambda M, h, J, S: (np.hstack([M, J.T, -S.T]), h), "b = -h"),
        (lambda M, h, J, S: (np.hstack([M, -J.T, -S.T]), -h), "force on the ground"),
        (lambda M, h, J, S: (np.hstack([M, J.T, S.T]), -h), "-S^T"),
    ],
    "acceleration_task": [
        (lambda J, b, w: (np.hstack([J, np.zeros((3, 24))]), w), "no J_dot u"),
        (lambda J, b, w: (np.hstack([J, np.zeros((3, 24))]), w + b), "subtracted"),
        (lambda J, b, w: (np.hstack([np.zeros((3, 24)), J]), w - b), "first 18"),
    ],
    "force_task": [
        (lambda k, F: force_columns(k, F, first=0), "start at 18"),
        (lambda k, F: force_columns(k, F, sign=-1.0), "same sign"),
        (lambda k, F: force_columns(3 - k, F), "are 18 to 20"),
    ],
    "solve": [(stacked, "no level has priority"), (without_projector, "project on all levels above")],
    "com_target": [([-0.04, 0.0], "margin"), ([0.05, 0.05], "outside"), ([-0.06, 0.2], "outside")],
    "rise": [
        (lambda t, T: (np.clip(t / T, 0, 1), (0 < t < T) / T, 0.0), "velocity jumps"),
        (lambda t, T: cubic(t, T, divide=False), "divide by T"),
        (lambda t, T: (cubic(t, T)[0], cubic(t, T)[1], 0.0), "not the derivative"),
    ],
    "lifted_foot": [
        (log_of("still"), "only"),
        (log_of("high, tips"), "tips over"),
        (log_of("high, slips"), "slips"),
    ],
}
"""Typical wrong answers to each exercise, and words of the hint that each gets."""
CHECKS = {name: check for session in SESSIONS for name, check in vars(session).items() if hasattr(check, "__wrapped__")}


def test_every_check_has_mistakes():
    assert set(MISTAKES) == set(CHECKS)
    assert min(map(len, MISTAKES.values())) >= 2
    assert set(ALTERNATIVES) < set(CHECKS)


def grade(name, answer):
    """The verdict on an answer; several answers are a tuple."""
    return CHECKS[name](*answer) if isinstance(answer, tuple) else CHECKS[name](answer)


@each_case("name, answer", [(name, answer) for name, answers in ALTERNATIVES.items() for answer in answers])
def test_other_right_answers_pass(name, answer):
    result = grade(name, answer)
    assert result, result


@each_case("name, answer, hint", [(name, *mistake) for name, mistakes in MISTAKES.items() for mistake in mistakes])
def test_mistakes_are_named(name, answer, hint):
    result = grade(name, answer)
    assert result.state == "wrong", result
    assert hint in result.text, result


@each_case("answer", [None, ..., lambda *_: ..., lambda *_: [..., ...]])
def test_placeholders_are_open(answer):
    result = CHECKS["planar_position"](answer)
    assert (bool(result), result.state) == (False, "open")
    assert "border-left" in result._repr_html_()

"""What the cells of a notebook show, and what is left in its file: results, and no progress."""

from base64 import b64decode

import nbconvert
import numpy as np
import pytest
from nbclient import NotebookClient
from nbformat import NotebookNode
from nbformat.v4 import new_code_cell, new_notebook

import multibody as mb
from multibody._reprs import html_table

from ..every_law import each_case

PREPARATION = """
import time
import numpy as np
import multibody as mb
from multibody import _notebook
from multibody.compiler.runtime import native, progress

progress.SILENT_SECONDS, progress.REFRESH_INTERVAL, _notebook.REFRESH_INTERVAL = 0.0, 0.001, 0.0
lines, show_line, compile_object = [], _notebook.show_line, native.compile_object

def note(text):
    lines.append(text)
    show_line(text)

progress.show_line = _notebook.show_line = note
panda, arm = mb.load("panda"), mb.load("planar-arm")
"""
SILENT = {
    "compilation": """
def compile_slowly(*args, **options):
    while progress._current.get() is not None and not (lines and lines[-1]):
        time.sleep(0.001)
    return compile_object(*args, **options)

mb.config.cache, native.compile_object = False, compile_slowly
for k in (2.0, 3.0):
    mb.compile(lambda x: k * x, 2)([1.0, 2.0])
mb.config.cache, native.compile_object = True, compile_object
assert "compiling" in lines[0] and "" in lines[:-1] and not lines[-1], lines
""",
    "study": """
del lines[:]
mb.sweep.Study(lambda sample: {"y": 2 * sample["x"]}, mb.sweep.uniform(8, x=(0.0, 1.0)), "study.zarr", chunk=2).run()
assert any("of 8 samples" in line for line in lines) and not lines[-1], lines
""",
    "recording": """
del lines[:]
run = mb.simulate.Simulator(arm, dt=0.01, method="euler")(arm.home(), np.zeros(3), seconds=0.04)
viewer = run.view(open_browser=False)
viewer.record("run.gif", size=(64, 48), rate=100.0)
assert any("recording 4 frames" in line for line in lines) and not lines[-1], lines
""",
}
"""Cells that show progress while they run, and nothing afterwards."""
VALUES = {
    "picture": ("mb.view.picture(panda, size=(160, 120))", "image/png"),
    "plot": ("run.plot()", "image/png"),
    "run": ("run", "image/png"),
    "drawing": ("mb.view.draw(mb.derive.systems.system('cart-pendulum'))", "image/png"),
    "study": ("mb.sweep.open('study.zarr').plot('x', 'y')", "image/png"),
    "robot": ("panda", "text/html"),
    "equations": ("mb.derive.equations(mb.derive.systems.system('cart-pendulum'))", "text/html"),
    "answer": ("arm.inverse_kinematics('tool', arm.pose('tool', arm.home()))", "text/html"),
    "history": ("mb.control.iterate(arm, 'tool', arm.pose('tool', np.zeros(3)), arm.home())", "text/html"),
    "viewer": ("viewer", "text/html"),
    "rotation": ("mb.Rotation.from_euler('zyx', [0.1, 0.2, 0.3])", "text/latex"),
    "pose": ("mb.Pose.identity()", "text/latex"),
    "twist": ("mb.Twist([1.0, 0.0, 0.0], [0.0, 0.0, 2.0])", "text/latex"),
    "wrench": ("mb.Wrench([1.0, 0.0, 0.0], [0.0, 0.0, 2.0])", "text/latex"),
    "inertia": ("mb.SpatialInertia(mass=2.0, com=[0.0, 0.0, 0.1], inertia=np.eye(3))", "text/latex"),
}
"""Last expressions of cells, and the format in which a notebook shows them."""


@pytest.fixture(scope="module")
def notebook(tmp_path_factory: pytest.TempPathFactory) -> NotebookNode:
    """The notebook with a cell for each entry, run once."""
    code = [PREPARATION, *SILENT.values(), *(expression for expression, _ in VALUES.values())]
    notebook = new_notebook(cells=[new_code_cell(text) for text in code])
    folder = tmp_path_factory.mktemp("notebook")
    resources = {"metadata": {"path": str(folder)}}
    NotebookClient(notebook, timeout=300, iopub_timeout=300, resources=resources).execute()  # also on a busy machine
    return notebook


def test_progress_leaves_nothing(notebook):
    for cell in notebook.cells[: 1 + len(SILENT)]:
        for output in cell.outputs:
            assert output.output_type == "display_data", output
            assert not any(output.data.values()), output
    assert [len(cell.outputs) for cell in notebook.cells[: 1 + len(SILENT)]] == [0, 1, 1, 1]


@each_case("name, cell", [(name, k + 1 + len(SILENT)) for k, name in enumerate(VALUES)])
def test_a_value_shows_itself(notebook, name, cell):
    result = notebook.cells[cell].outputs[-1]
    assert result.output_type == "execute_result", result
    content = result.data[VALUES[name][1]]
    assert not content.startswith("iVBOR") or b64decode(content).startswith(b"\x89PNG")
    assert len(content) > 40


def test_a_page_of_the_notebook_has_pictures_and_no_progress(notebook):
    page, _ = nbconvert.HTMLExporter().from_notebook_node(notebook)
    pictures = sum(kind == "image/png" for _, kind in VALUES.values())
    assert page.count('src="data:image/png;base64,') == pictures
    assert 'data-mime-type="application/vnd.jupyter.stderr"' not in page


def test_a_table_of_a_robot_has_its_coordinates_and_frames():
    table = mb.load("quadruped")._repr_html_()
    assert "<p>quadruped: 13 bodies on a floating base" in table
    assert "<td>floating</td><td></td><td>3.52 kg</td><td>q[0:7]</td><td>v[0:6]</td>" in table
    assert "<td>q[9]</td><td>v[8]</td><td>foot-lf</td>" in table
    assert table.count("<tr>") == 14


def test_long_tables_show_their_first_and_last_rows():
    table = html_table("many", ("k", "x"), [(k, 1.23456 * k) for k in range(1000)])
    assert table.count("<tr>") == 42
    assert "<td>1</td><td>1.235</td>" in table
    assert "<td>⋮</td><td>⋮</td>" in table
    assert "<td>999</td><td>1233.0</td>" in table
    assert "<td>500</td>" not in table
    assert "<b>" not in html_table("<b>", ("<b>",), [("<b>",)])


def test_answers_of_a_batch_are_counted():
    arm = mb.load("planar-arm")
    near, far = arm.pose("tool", arm.home()), mb.Pose(mb.Rotation.identity(), [100.0, 0.0, 0.0])
    answers = arm.inverse_kinematics("tool", mb.Pose.stack([near, near, far]))
    assert "<p>2 of 3 targets reached" in answers._repr_html_()
    assert "Not reached" in arm.inverse_kinematics("tool", far)._repr_html_()


@pytest.mark.parametrize(("batch", "more"), [((), ""), ((3, 2), ", the largest errors of 6 targets")])
def test_a_history_shows_the_largest_errors(batch, more):
    arm = mb.load("planar-arm")
    q = arm.random(np.random.default_rng(0), batch)
    history = mb.control.iterate(arm, "tool", arm.pose("tool", q), arm.home(), iterations=2)
    table = history._repr_html_()
    assert f"<p>2 iterations{more}</p>" in table
    assert f"<td>0</td><td>{history.position_error[0].max():.4g}</td>" in table


def test_a_value_shows_four_digits_and_a_batch_its_repr():
    assert mb.Twist([1.0, 0.0, 0.0], [0.0, 0.0, 1 / 3])._repr_latex_() == (
        r"$\displaystyle \begin{bmatrix} 1 \\ 0 \\ 0 \\ 0 \\ 0 \\ 0.3333 \end{bmatrix}$"
    )
    assert mb.Twist.zero(2)._repr_latex_() is None


def test_a_run_without_rows_has_no_picture():
    arm = mb.load("planar-arm")
    run = mb.simulate.Simulator(arm, dt=0.01, method="euler")(arm.home(), np.zeros(3), seconds=0.02, every=5)
    assert run._repr_png_() is None

"""Decimated meshes: fewer triangles, near the surface, without holes."""

from collections import Counter

import numpy as np
import pytest

import multibody as mb
from multibody.view import picture
from multibody.view.rendering.camera import Camera
from multibody.view.rendering.renderer import render
from multibody.view.shapes import mesh_files
from multibody.view.shapes.decimation import MIN_TRIANGLES, decimate
from multibody.view.shapes.surfaces import Surface, smooth

GRAY = (0.5, 0.5, 0.5, 1.0)
CELL = 0.03


@pytest.fixture(scope="module")
def torus():
    """A torus of 64,800 triangles, with radii of 1 and 0.3 m."""
    n = 180
    u, v = (2 * np.pi * np.arange(n) / n for _ in range(2))
    u, v = np.meshgrid(u, v, indexing="ij")
    points = np.stack([(1 + 0.3 * np.cos(v)) * np.cos(u), (1 + 0.3 * np.cos(v)) * np.sin(u), 0.3 * np.sin(v)], axis=-1)
    i, j = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
    a, b, c, d = (((i + k) % n) * n + (j + m) % n for k, m in ((0, 0), (1, 0), (1, 1), (0, 1)))
    faces = np.concatenate([np.stack([a, b, c], -1).reshape(-1, 3), np.stack([a, c, d], -1).reshape(-1, 3)])
    return smooth(points.reshape(-1, 3), faces, GRAY)


def volume(surface):
    a, b, c = surface.vertices[surface.faces].swapaxes(0, 1)
    return float(np.sum(a * np.cross(b, c)) / 6)


def test_fewer_triangles_near_the_surface(torus):
    coarse = decimate(torus, CELL)
    assert len(coarse.faces) < 0.45 * len(torus.faces)
    x, y, z = coarse.vertices.T
    distance = np.hypot(np.hypot(x, y) - 1, z) - 0.3
    assert np.abs(distance).max() < 0.2 * CELL  # means of a smooth surface stay near it
    assert volume(coarse) == pytest.approx(volume(torus), rel=0.01)
    np.testing.assert_allclose(np.linalg.norm(coarse.normals, axis=1), 1.0, atol=1e-12)
    middle = np.stack([x, y, 0 * z], axis=-1) / np.hypot(x, y)[:, None]
    outward = (coarse.vertices - middle) / np.linalg.norm(coarse.vertices - middle, axis=1, keepdims=True)
    assert np.sum(coarse.normals * outward, axis=1).min() > 0.95


def test_no_hole_opens(torus):
    coarse = decimate(torus, CELL)
    corners = coarse.vertices[coarse.faces].round(12).tolist()
    edges = Counter(frozenset((tuple(face[k]), tuple(face[(k + 1) % 3]))) for face in corners for k in range(3))
    assert np.mean([count == 1 for count in edges.values()]) < 5e-3  # where a fold became one triangle


def test_few_triangles_are_left_as_they_are(torus):
    few = Surface(torus.vertices, torus.faces[: MIN_TRIANGLES - 1], torus.normals, GRAY)
    assert decimate(few, CELL) is few
    assert decimate(torus, 0.0) is torus


def test_a_picture_hardly_changes(torus):
    camera = Camera.around(torus.vertices, "three-quarter", (160, 120))
    pixel = np.linalg.norm(camera.position) / camera.focal
    full, coarse = (render([each], camera, None) for each in (torus, decimate(torus, pixel)))
    assert (np.abs(full - coarse).max(axis=-1) > 0.1).mean() < 2e-3


URDF = """<robot name="r"><link name="base"><visual><geometry><mesh filename="ball.stl"/></geometry></visual></link>
</robot>"""


def test_mesh_files_are_read_for_the_first_picture_only(tmp_path, monkeypatch):
    trimesh = pytest.importorskip("trimesh")
    trimesh.creation.icosphere(4).export(tmp_path / "ball.stl")
    (tmp_path / "r.urdf").write_text(URDF)
    robot = mb.load(tmp_path / "r.urdf")
    reads = []
    original = mesh_files.read
    monkeypatch.setattr(mesh_files, "read", lambda *inputs: reads.append(inputs) or original(*inputs))
    for _ in range(3):
        picture(robot, size=(64, 48))
    assert len(reads) == 1
    picture(robot, size=(128, 96))  # has more pixels, and so needs more triangles
    assert len(reads) == 2

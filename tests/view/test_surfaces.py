"""Surfaces of shapes: closed, their normals outward, their volumes those of the solids."""

from collections import Counter

import numpy as np
import pytest

from multibody.model.shapes import Box, Capsule, Cylinder, Ellipsoid, Plane, Sphere
from multibody.view.shapes.surfaces import Surface, rod, smooth, surface_of

WHITE = (1.0, 1.0, 1.0, 1.0)
SOLIDS = [Box([0.2, 0.3, 0.5]), Sphere(0.4), Ellipsoid([0.1, 0.2, 0.4]), Capsule(0.1, 0.5), Cylinder(0.2, 0.3)]


def volume(surface: Surface) -> float:
    a, b, c = np.moveaxis(surface.vertices[surface.faces], 1, 0)
    return float(np.sum(a * np.cross(b, c)) / 6)


@pytest.mark.parametrize("solid", SOLIDS, ids=lambda solid: type(solid).__name__)
def test_volume_is_that_of_the_solid(solid):
    # the divergence theorem: right only if every face is there once and turned outward; rounds are inscribed polygons
    assert volume(surface_of(solid, WHITE)) == pytest.approx(solid.volume, rel=0.02)
    assert volume(surface_of(solid, WHITE)) <= solid.volume * (1 + 1e-12)


@pytest.mark.parametrize("solid", SOLIDS, ids=lambda solid: type(solid).__name__)
def test_closed_and_smooth(solid):
    surface = surface_of(solid, WHITE)
    corners = surface.vertices[surface.faces].round(9) + 0.0
    faces = corners.tolist()
    assert all(len({tuple(corner) for corner in face}) == 3 for face in faces)
    edges = Counter((tuple(face[k]), tuple(face[(k + 1) % 3])) for face in faces for k in range(3))
    assert all(count == 1 and edges[end, start] == 1 for (start, end), count in edges.items())
    flat = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    along = np.einsum("fi,fki->fk", flat, surface.normals[surface.faces])
    assert (along > -1e-12).all()
    np.testing.assert_allclose(np.linalg.norm(surface.normals, axis=1), 1.0, atol=1e-12)


def test_meshes_and_planes_have_no_solid():
    assert surface_of(Plane(), WHITE) is None


def test_rod_reaches_from_point_to_point():
    start, end = np.array([0.1, -0.2, 0.3]), np.array([0.5, 0.4, -0.1])
    surface = rod(start, end, 0.05, WHITE)
    way = (end - start) / np.linalg.norm(end - start)
    reach = (surface.vertices - start) @ way
    assert reach.min() == pytest.approx(-0.05)
    assert reach.max() == pytest.approx(np.linalg.norm(end - start) + 0.05)
    aside = np.linalg.norm(np.cross(surface.vertices - start, way), axis=1)
    assert aside.max() == pytest.approx(0.05)
    assert np.isfinite(rod(start, start, 0.05, WHITE).vertices).all()


def test_edges_stay_sharp_and_curves_become_smooth():
    box, ball = surface_of(Box([1, 1, 1]), WHITE), surface_of(Sphere(1.0), WHITE)
    flat = smooth(box.vertices, box.faces, WHITE)
    assert np.allclose(np.abs(flat.normals).max(axis=1), 1.0)
    round_ = smooth(ball.vertices, ball.faces, WHITE)
    np.testing.assert_allclose(round_.normals, round_.vertices, atol=0.05)  # facets are some 0.2 rad apart


def test_indexed_is_the_same_surface_with_fewer_vertices():
    ball = surface_of(Sphere(1.0), WHITE)
    soup = smooth(ball.vertices, ball.faces, WHITE)
    vertices, faces = soup.indexed()
    assert len(vertices) < len(soup.vertices) / 4
    np.testing.assert_allclose(vertices[faces], soup.vertices[soup.faces], atol=2e-6)

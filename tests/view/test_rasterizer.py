"""The renderer: which triangle each pixel shows, beside a plain loop over pixels; cameras that see all."""

import numpy as np
import pytest

from multibody.errors import InputError
from multibody.model.shapes import Box
from multibody.view.rendering.camera import VIEWS, Camera
from multibody.view.rendering.rasterizer import barycentric, rasterize
from multibody.view.rendering.renderer import render
from multibody.view.shapes.surfaces import surface_of

SIZE = (24, 18)


def filled(screen):
    """The fragments of triangles (n, 3, 3) with corners of their own."""
    return rasterize(screen.reshape(-1, 3), np.arange(3 * len(screen)).reshape(-1, 3), SIZE)


def plainly(screen, size):
    """Which triangle is nearest at the middle of each pixel, by solving for barycentric coordinates."""
    shown = np.full((size[1], size[0]), -1)
    for row in range(size[1]):
        for column in range(size[0]):
            nearest = np.inf
            for k, corners in enumerate(screen):
                A = np.vstack([corners[:, :2].T, np.ones(3)])
                share = np.linalg.solve(A, [column + 0.5, row + 0.5, 1.0])
                depth = 1 / (share @ (1 / corners[:, 2]))
                if (share > 0).all() and depth < nearest:
                    nearest, shown[row, column] = depth, k
    return shown


def test_every_pixel_shows_the_nearest_triangle():
    rng = np.random.default_rng(0)
    screen = np.concatenate([rng.uniform(-6, 30, (12, 3, 2)), rng.uniform(1, 3, (12, 3, 1))], axis=-1)
    seen = filled(screen)
    np.testing.assert_array_equal(seen.triangle, plainly(screen, SIZE))
    assert (seen.triangle >= 0).mean() > 0.5
    hit = seen.triangle >= 0
    row, column = np.nonzero(hit)
    corners = screen[seen.triangle[hit]]
    weights = barycentric(corners, column + 0.5, row + 0.5)
    np.testing.assert_allclose(weights.sum(axis=-1), 1.0, atol=1e-12)
    depth = np.sum(weights * corners[..., 2], axis=-1)
    np.testing.assert_allclose(seen.depth[hit], depth, rtol=1e-6)  # kept in single precision
    assert np.isinf(seen.depth[~hit]).all()


def test_neighbours_leave_no_gap_and_do_not_overlap():
    square = np.array([[2.0, 3.0], [20.0, 3.0], [20.0, 15.0], [2.0, 15.0]])
    triangles = np.array([square[[0, 1, 2]], square[[0, 2, 3]]])
    screen = np.concatenate([triangles, np.ones((2, 3, 1))], axis=-1)
    seen = filled(screen)
    assert (seen.triangle >= 0).sum() == 18 * 12


def test_what_is_behind_the_camera_is_not_drawn():
    screen = np.array([[[0.0, 0.0, -1.0], [24.0, 0.0, 1.0], [0.0, 18.0, 1.0]]])
    assert (filled(screen).triangle == -1).all()
    assert (filled(np.zeros((0, 3, 3))).triangle == -1).all()


@pytest.mark.parametrize("view", [*VIEWS, (30.0, 60.0)], ids=str)
def test_cameras_have_all_points_in_view(view):
    points = np.random.default_rng(1).normal(size=(50, 3)) * [1.0, 0.3, 2.0] + [4.0, 0.0, 1.0]
    camera = Camera.around(points, view, (320, 240))
    seen = camera.project(points)
    assert (seen[:, 2] > 0).all()
    assert (seen[:, :2] >= 0).all()
    assert (seen[:, :2] <= (320, 240)).all()
    (ray,) = camera.rays(np.array([100 * 320 + 50]))
    ahead = camera.project(camera.position + 3.0 * ray)
    np.testing.assert_allclose(ahead, [50.5, 100.5, 3.0], atol=1e-9)


def test_up_is_up():
    camera = Camera.around(np.array([[0, 0, 0.0], [0, 0, 1.0]]), "front", (100, 100))
    low, high = camera.project(np.array([[0, 0, 0.0], [0, 0, 1.0]]))
    assert high[1] < low[1]
    left, right = camera.project(np.array([[0, -0.2, 0.0], [0, 0.2, 0.0]]))  # from the front, y is to the right
    assert left[0] < right[0]


def test_a_box_hides_what_is_behind_it_and_throws_a_shadow():
    red, blue = (1.0, 0.0, 0.0, 1.0), (0.0, 0.0, 1.0, 1.0)
    near, far = surface_of(Box([0.2, 1, 1]), red), surface_of(Box([0.2, 0.5, 0.5]), blue)
    near = near._replace(vertices=near.vertices + np.array([1.0, 0.0, 0.6]))
    far = far._replace(vertices=far.vertices + np.array([-1.0, 0.0, 0.6]))
    camera = Camera.around(near.vertices, "front", (80, 60))
    image = render([far, near], camera, floor=None)
    assert ((image[..., 0] > 2 * image[..., 2]).mean()) > 0.3
    assert not (image[..., 2] > 1.5 * image[..., 0]).any()
    plain, shaded = (render(parts, camera, 0.0)[-6:] for parts in ([far], [near]))
    assert shaded.mean() < plain.mean()


def test_unknown_views_are_refused():
    for view in ("behind", (0.0, 90.0), (1.0,), (np.nan, 0.0)):
        with pytest.raises(InputError, match="view"):
            Camera.around(np.zeros((1, 3)), view, (10, 10))

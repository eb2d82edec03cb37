"""The viewer in a real browser: it opens, sliders move the robot, runs play, pages are saved, strangers are refused.

Where chromium or playwright is not there, these tests are skipped. `python -m tests.view.test_browser` keeps a new
reference, to be looked at before it is committed.
"""

import io
import shutil
import tempfile
import time
from pathlib import Path

import numpy as np
import pytest

import multibody as mb
from multibody import simulate
from multibody.view.browser.surroundings import first_camera
from multibody.view.rendering.camera import FIELD_OF_VIEW, Camera
from multibody.view.shapes.visual_shapes import visual_shapes

pytestmark = pytest.mark.browser
REFERENCE = Path(__file__).parent / "references" / "browser-planar-arm.npz"
BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
FLAGS = (
    "--no-sandbox", "--use-gl=angle", "--use-angle=swiftshader", "--enable-unsafe-swiftshader",
    "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run",
    "--host-resolver-rules=MAP evil.example 127.0.0.1",
)  # fmt: skip
VIEWPORT = {"width": 580, "height": 260}
FAILED = Path(tempfile.gettempdir()) / "multibody-browser.png"
BLOCK = 10
"""Pixels, in each direction, that are compared as one: on slow machines viser draws fewer, and all is blurred."""
SAME = 4e-3
"""The share of blocks that may differ: a missing body changes more."""


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if BROWSER is None:
        pytest.skip("no chromium on this machine: apt-get install chromium")
    with playwright.sync_playwright() as tools:
        chromium = tools.chromium.launch(executable_path=BROWSER, args=list(FLAGS))
        yield chromium
        chromium.close()


@pytest.fixture(scope="module")
def robot():
    return mb.load("planar-arm")


def shown(robot):
    """A viewer without shadows, which cost a machine without a graphics card most of its time."""
    viewer = mb.view.show(robot, open_browser=False)
    viewer.server.scene.configure_default_lights(cast_shadow=False)
    return viewer


@pytest.fixture(scope="module")
def viewer(robot):
    with shown(robot) as viewer:
        yield viewer


class Screen:
    """A page, what its console says, and what it shows."""

    def __init__(self, browser, address):
        self.page = browser.new_page(viewport=VIEWPORT)
        self.page.set_default_timeout(120_000)  # machines without a graphics card, and busy ones
        self.errors = []
        self.page.on("console", lambda message: message.type == "error" and self.errors.append(message.text))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.go(address)

    def go(self, address):
        """To another page."""
        self.page.goto(address)
        self.page.add_style_tag(content=".mantine-Notifications-root { display: none; }")
        self.page.wait_for_selector("canvas")

    def shot(self):
        """What the canvas shows now, (h, w, 3)."""
        from PIL import Image

        picture = self.page.screenshot(clip=self.page.locator("canvas").first.bounding_box())
        return np.asarray(Image.open(io.BytesIO(picture)).convert("RGB"), float)

    def until(self, condition, seconds=200.0):
        """The first picture of which something holds."""
        end = time.monotonic() + seconds
        while not condition(image := self.shot()):
            if time.monotonic() > end:
                self.page.screenshot(path=FAILED)
                pytest.fail(f"the page does not come to show it: {FAILED} is what it shows")
            self.page.wait_for_timeout(100)
        return image

    def settled(self):
        """What it shows when nothing moves any more."""
        before = [self.shot()]

        def rests(image):
            before.append(image)
            return image.std() > 5.0 and np.array_equal(image, before[-2])

        return self.until(rests)

    def slide(self, slider, share):
        """Take a slider by its thumb, to a share of its way."""
        thumb = self.page.locator("[role=slider]").nth(slider)
        thumb.scroll_into_view_if_needed()
        box, bar = thumb.bounding_box(), thumb.locator("xpath=..").bounding_box()
        self.page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        self.page.mouse.down()
        self.page.mouse.move(bar["x"] + share * bar["width"], box["y"] + box["height"] / 2, steps=5)
        self.page.mouse.up()

    def close(self):
        self.page.close()
        assert not self.errors


@pytest.fixture(scope="module")
def screen(browser, viewer):
    screen = Screen(browser, viewer.url)
    yield screen
    screen.close()


def blocks(image):
    """(h, w, 3): means over blocks of pixels."""
    h, w = (size // BLOCK for size in image.shape[:2])
    return image[: h * BLOCK, : w * BLOCK].reshape(h, BLOCK, w, BLOCK, 3).mean(axis=(1, 3))


def far_apart(image, other):
    """The share of blocks that differ visibly."""
    return (np.abs(blocks(image) - blocks(other)).max(axis=-1) > 24).mean()


def test_it_opens_and_looks_like_the_kept_picture_but_not_without_a_body(screen, viewer):
    kept = np.load(REFERENCE)["image"].astype(float)
    screen.until(lambda image: image.shape == kept.shape)  # the panel has taken its part of the page
    assert screen.settled().shape == kept.shape
    screen.until(lambda image: far_apart(image, kept) < SAME)
    assert screen.page.get_by_text("Share", exact=True).count() == 0
    for link in list(viewer.scene().robots[viewer.robot.name].links)[::3]:
        node = viewer.server.scene.get_handle_by_name(f"/{viewer.robot.name}/{link}")
        node.visible = False
        screen.until(lambda image: far_apart(image, kept) > SAME)
        node.visible = True
        screen.until(lambda image: far_apart(image, kept) < SAME)


def test_a_slider_moves_what_hangs_on_its_joint(screen, viewer, robot):
    before, q = screen.settled(), viewer.scene().robots[viewer.robot.name].q
    screen.slide(1, 0.75)
    screen.until(lambda image: far_apart(image, before) > SAME)
    screen.page.wait_for_timeout(500)
    after, moved = screen.settled(), viewer.scene().robots[viewer.robot.name].q
    assert np.flatnonzero(moved != q).tolist() == [1]
    camera = page_camera(robot, before.shape)
    shapes = visual_shapes(robot).links
    links = [link for link in shapes if np.ptp(_places(robot, [q, moved], link), axis=0).max() > 1e-6]
    assert 0 < len(links) < len(shapes)
    way = robot.interpolate(q, moved, np.linspace(0, 1, 9))
    points = np.concatenate([
        surface.at(robot.pose(link, state)).vertices
        for link in links for state in way for surface in shapes[link]
    ])  # fmt: skip
    x, y, _ = camera.project(points).T
    differs = np.abs(blocks(before) - blocks(after)).max(axis=-1) > 24
    row, column = (BLOCK * (np.argwhere(differs) + 0.5)).T
    assert len(row) > 5
    assert x.min() - BLOCK < column.min() < column.max() < x.max() + BLOCK
    assert y.min() - BLOCK < row.min() < row.max() < y.max() + BLOCK
    viewer.update(q)


def _places(robot, states, link):
    return np.stack([robot.pose(link, state) @ np.array([0.1, 0.2, 0.3]) for state in states])


def page_camera(robot, shape):
    """The camera of a page, as the server placed it."""
    aspect = shape[1] / shape[0]
    points = visual_shapes(robot).points(robot, robot.home())
    position, look_at = map(np.array, first_camera(points, aspect if aspect < 1.2 else 4 / 3))
    forward = (look_at - position) / np.linalg.norm(look_at - position)
    right = np.cross(forward, [0, 0, 1.0])
    right = right / np.linalg.norm(right)
    focal = shape[0] / 2 / np.tan(np.radians(FIELD_OF_VIEW) / 2)
    return Camera(position, np.stack([right, np.cross(forward, right), forward]), focal, (shape[1], shape[0]))


def test_a_run_plays_pauses_is_scrubbed_and_saved(screen, viewer, robot, tmp_path):
    run = simulate.Simulator(robot, dt=0.01, method="euler")([0.0, 0.8, 0.8], seconds=2.0)
    viewer.play(run, charts=False)
    button = screen.page.get_by_role("button", name="pause")
    button.wait_for()
    first = screen.shot()
    screen.until(lambda image: far_apart(image, first) > SAME)  # it plays
    button.click()
    screen.page.get_by_role("button", name="play").wait_for()
    paused = screen.settled()  # or it would never be
    assert not viewer.scene().run.playing
    screen.slide(0, 0.25)
    screen.until(lambda image: far_apart(image, paused) > SAME or abs(viewer.scene().run.t - 0.5) < 0.1)
    scrubbed = screen.settled()
    t = viewer.scene().run.t
    assert t == pytest.approx(0.5, abs=0.1)
    np.testing.assert_allclose(viewer.scene().robots[viewer.robot.name].q, run.q[np.searchsorted(run.t, t)], atol=1e-12)
    viewer.seek(1.5)
    screen.until(lambda image: far_apart(image, scrubbed) > SAME)
    viewer.save(tmp_path / "run.html")
    viewer.stop()
    viewer.update(robot.home())
    screen.go((tmp_path / "run.html").as_uri())  # from the disk: no server has a part in it
    images = [screen.until(lambda image: image.std() > 5.0)]
    for _ in range(4):  # while it loads it changes, too, but not that often
        images.append(screen.until(lambda image: far_apart(image, images[-1]) > SAME))


def test_foreign_pages_are_refused(browser, viewer):
    page = browser.new_page()
    assert page.goto(f"http://evil.example:{viewer.port}").status == 403  # a name that leads here, as by rebinding
    assert page.goto(f"http://localhost:{viewer.port}", wait_until="commit").status == 200
    open_socket = """address => new Promise(done => {
        const socket = new WebSocket(address, ["viser-v1.1.1"]);
        socket.onopen = () => { socket.close(); done("open"); };
        socket.onerror = () => done("refused");
    })"""
    address = f"ws://127.0.0.1:{viewer.port}"
    page.goto("about:blank")
    assert page.evaluate(open_socket, address) == "refused"
    page.goto(f"http://127.0.0.1:{viewer.port}", wait_until="commit")
    assert page.evaluate(open_socket, address) == "open"
    assert page.evaluate(open_socket, f"ws://localhost:{viewer.port}") == "refused"
    page.close()


if __name__ == "__main__":
    from playwright.sync_api import sync_playwright

    with sync_playwright() as tools, shown(mb.load("planar-arm")) as viewer:
        chromium = tools.chromium.launch(executable_path=BROWSER, args=list(FLAGS))
        image = Screen(chromium, viewer.url).settled()
        np.savez_compressed(REFERENCE, image=image.astype(np.uint8))
        chromium.close()

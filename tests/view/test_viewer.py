"""The viewer, from a client's side: what it is sent when robots move, runs play and pages are saved."""

import asyncio
import threading
import time

import numpy as np
import pytest
from websockets.asyncio.client import connect

import multibody as mb
from multibody import simulate
from multibody.errors import InputError


@pytest.fixture(scope="module")
def robot():
    return mb.load("quadruped")


@pytest.fixture
def viewer(robot):
    with mb.view.show(robot, open_browser=False) as viewer:
        yield viewer


def positions(viewer):
    return {node.name: np.array(node.position) for node in viewer._main._solid}


def test_links_are_where_the_robot_has_them(viewer, robot):
    q = robot.random(np.random.default_rng(0))
    viewer.update(q)
    for name, place in positions(viewer).items():
        link = name.removeprefix(f"/{robot.name}/")
        np.testing.assert_allclose(place, robot.pose(link, q).position, atol=1e-6)
    turned = viewer._main._solid[3]
    link = turned.name.removeprefix(f"/{robot.name}/")
    np.testing.assert_allclose(
        mb.Rotation.from_quaternion(np.array(turned.wxyz)).matrix, robot.pose(link, q).rotation.matrix, atol=1e-6
    )


def test_several_are_ghosts_and_one_is_solid(viewer, robot):
    batch = robot.random(np.random.default_rng(1), (5,))
    viewer.update(batch)
    k, node = viewer._main._ghosts[4]
    link = list(viewer._main.parts.links)[k]
    np.testing.assert_allclose(node.batched_positions, robot.pose(link, batch[:4]).position, atol=1e-6)
    viewer.update(batch[:3])
    assert len(viewer._main._ghosts[0][1].batched_positions) == 2
    viewer.update(batch[0])
    assert not viewer._main._ghosts


def test_sliders_move_the_robot_and_follow_it(viewer, robot):
    k, slider = viewer._sliders._sliders[2]
    slider.value = slider.min
    time.sleep(0.05)
    q = viewer._last(viewer._main)
    assert q[k] == pytest.approx(slider.min)
    assert robot.tree.lower[k] == pytest.approx(slider.min)
    assert np.delete(q, k) == pytest.approx(np.delete(robot.home(), k))


def test_marks_follow(viewer, robot):
    viewer.frames("foot-lf")
    viewer.center_of_mass()
    viewer.inertias()
    viewer.trace("foot-lf")
    viewer.contacts([simulate.SphereContact("foot-lf", 0.02)], forces=[[0.0, 0.0, 10.0]])
    q = robot.random(np.random.default_rng(2))
    viewer.update(q)
    frame, com, inertias, trace, contacts = viewer._marks
    np.testing.assert_allclose(frame.node.position, robot.pose("foot-lf", q).position, atol=1e-6)
    np.testing.assert_allclose(com.node.position, robot.center_of_mass(q), atol=1e-6)
    assert len(inertias.nodes) == len(robot.bodies)
    assert len(trace._points) == 2
    arrow = np.asarray(contacts._arrows.points)[0]
    np.testing.assert_allclose(arrow[0], robot.pose("foot-lf", q).position, atol=1e-6)
    assert arrow[1, 2] > arrow[0, 2]


def test_a_run_plays_pauses_and_is_saved(viewer, robot, tmp_path):
    simulator = simulate.Simulator(robot, dt=0.01, method="euler")
    run = simulator(robot.home(), seconds=0.5)
    viewer.play(run)
    time.sleep(0.3)
    viewer.pause()
    viewer.seek(0.25)
    np.testing.assert_allclose(viewer._last(viewer._main), run.q[np.searchsorted(run.t, 0.25)], atol=1e-12)
    page = tmp_path / "page.html"
    viewer.save(page)
    text = page.read_text()
    assert "__VISER_EMBED_DATA__" in text
    viewer.record(tmp_path / "run.gif", size=(64, 48), rate=4.0)
    from PIL import Image

    with Image.open(tmp_path / "run.gif") as gif:
        assert gif.n_frames == 3
    with pytest.raises(InputError, match="gif"):
        viewer.record(tmp_path / "run.avi")


def test_messages_arrive(viewer, robot):
    """As many updates as are sent reach a client, each with all links."""
    arrived = []

    async def listen(ready):
        where = {"host": "127.0.0.1", "port": viewer.port, "proxy": None, "compression": None}
        async with connect("ws://localhost", subprotocols=["viser-v1.1.1"], max_size=None, **where) as connection:
            await connection.recv()
            ready.set()
            try:
                while True:
                    arrived.append(len(await asyncio.wait_for(connection.recv(), 1.0)))
            except TimeoutError:
                return

    ready = threading.Event()
    client = threading.Thread(target=lambda: asyncio.run(listen(ready)))
    client.start()
    assert ready.wait(20)
    time.sleep(0.3)
    before = sum(arrived)
    for q in robot.random(np.random.default_rng(3), (20,)):
        viewer.update(q)
        time.sleep(1 / 60)
    client.join()
    assert sum(arrived) - before > 20 * 13 * 2 * 20  # 20 updates of 13 links, position and rotation, in bytes


def test_nonsense_from_a_client_does_not_end_it(viewer, robot):
    async def shout():
        where = {"host": "127.0.0.1", "port": viewer.port, "proxy": None, "compression": None}
        async with connect("ws://localhost", subprotocols=["viser-v1.1.1"], **where) as connection:
            await connection.send(b"\x00\x01nonsense")
            await connection.send("words")

    asyncio.run(shout())
    viewer.update(robot.home())
    test_messages_arrive(viewer, robot)


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda viewer: viewer.update([0.0]), "q"),
        (lambda viewer: viewer.update(np.full(19, np.nan)), "q"),
        (lambda viewer: viewer.update(viewer.robot.home(), name="other"), "other"),
        (lambda viewer: viewer.add(viewer.robot), "quadruped"),
        (lambda viewer: viewer.frames("nose"), "nose"),
        (lambda viewer: viewer.seek(0.0), "play"),
        (lambda viewer: viewer.record("x.gif"), "play"),
        (lambda viewer: viewer.play("run"), "run"),
        (lambda viewer: viewer.save("no/such/place.html"), "path"),
    ],
)
def test_bad_input_is_named(viewer, call, word):
    with pytest.raises(InputError, match=word):
        call(viewer)

"""The viewer, from a client's side: what it is sent when robots move, runs play and pages are saved."""

import re
import threading
import time
from contextlib import ExitStack

import msgspec.msgpack
import numpy as np
import pytest
from viser import _messages

import multibody as mb
from multibody import simulate
from multibody.errors import InputError
from multibody.view.contact_forces import friction_cone
from multibody.view.overlays import Trace

from .client import Client, wait


@pytest.fixture(scope="module")
def robot():
    return mb.load("quadruped")


@pytest.fixture
def viewer(robot):
    with mb.view.show(robot, open_browser=False) as viewer:
        yield viewer


def shown(viewer, name=None):
    """The configuration of a robot, the first by default, without ghosts."""
    robots = viewer.scene().robots
    return np.atleast_2d(robots[name or viewer.robot.name].q)[-1]


def same(pose, other):
    """Whether two poses are equal but for the rounding of single precision."""
    return pose.boxminus(other) == pytest.approx(np.zeros(6), abs=1e-6)


def test_links_are_where_the_robot_has_them(viewer, robot):
    q = robot.random(np.random.default_rng(0))
    viewer.update(q)
    view = viewer.scene().robots[robot.name]
    assert view.q == pytest.approx(q)
    assert len(view.links) == 13
    for link, now in view.links.items():
        assert same(now.pose, robot.pose(link, q))
        assert now.visible
        assert (now.opacity, len(now.ghosts)) == (1.0, 0)
    assert viewer.scene().robots[robot.name].links["trunk"].colors == ((140, 145, 153),)


def test_several_are_ghosts_and_one_is_solid(viewer, robot):
    batch = robot.random(np.random.default_rng(1), (5,))
    for count in (5, 3, 1):
        viewer.update(batch[:count])
        for link, now in viewer.scene().robots[robot.name].links.items():
            places = robot.pose(link, batch[:count]).position
            np.testing.assert_allclose(now.pose.position, places[-1], atol=1e-6)
            np.testing.assert_allclose(now.ghosts, places[:-1], atol=1e-6)
    viewer.update(batch[0])
    assert not len(viewer.scene().robots[robot.name].links["trunk"].ghosts)


def test_another_robot_stands_where_it_is_put(viewer):
    arm = mb.load("panda")
    place = mb.Pose(mb.Rotation.from_rotation_vector([0.0, 0.0, 0.5]), [1.0, 2.0, 0.0])
    viewer.add(arm, name="second", place=place)
    q = arm.random(np.random.default_rng(4))
    viewer.update(q, "second")
    for link, now in viewer.scene().robots["second"].links.items():
        assert same(now.pose, place @ arm.pose(link, q))


def test_a_robot_without_joints_is_shown(tmp_path):
    path = tmp_path / "rock.urdf"
    path.write_text('<robot name="rock"><link name="rock"/></robot>')
    rock = mb.load(path)
    assert rock.nq == 0
    with mb.view.show(rock, open_browser=False) as viewer:
        assert len(viewer.scene().robots["rock"].links) == 1


def test_sliders_move_the_robot_and_follow_it(viewer, robot):
    joint = [joint for joint in robot.joints if joint.nq == 1][2]
    k = joint.q.start
    slider = viewer.scene().sliders[joint.name]
    ends = robot.tree.lower[k], robot.tree.upper[k]
    assert (slider.lower, slider.upper) == pytest.approx(ends, abs=slider.step)
    assert ends[0] - 1e-8 <= slider.lower < slider.upper <= ends[1] + 1e-8
    with Client(viewer) as client:
        client.slide(joint.name, slider.lower)
        wait(lambda: shown(viewer)[k] == pytest.approx(slider.lower))
        assert np.delete(shown(viewer), k) == pytest.approx(np.delete(robot.home(), k))
        for nonsense in (np.nan, np.inf, 1e308, -1e9):
            client.slide(joint.name, nonsense)
        for value in np.linspace(-1.0, -0.25, 40):  # the last one counts
            client.slide(joint.name, float(value))
        wait(lambda: shown(viewer)[k] == pytest.approx(-0.25))
        time.sleep(0.2)
        assert viewer.scene().sliders[joint.name].value == shown(viewer)[k] == pytest.approx(-0.25)
    viewer.update(robot.home())
    wait(lambda: viewer.scene().sliders[joint.name].value == pytest.approx(robot.home()[k], abs=slider.step))


def test_a_target_that_is_dragged_is_followed_and_one_that_is_let_go_hurts_nobody():
    arm = mb.load("panda")
    with mb.view.show(arm, open_browser=False) as viewer:
        viewer.target("tool")
        pose = arm.pose("tool", arm.home())
        place = pose.position + np.array([0.05, 0.1, -0.05])
        with Client(viewer) as client:
            client.drag("/target/tool", place, pose.rotation.quaternion)
            wait(lambda: np.abs(arm.pose("tool", shown(viewer)).position - place).max() < 2e-4)
            client.drag("/target/tool", [np.nan, 0, 0])
            client.drag("/target/tool", place, [0.0, 0, 0, 0])
        leaver = Client(viewer)
        for shift in np.linspace(0, 0.1, 20):
            leaver.drag("/target/tool", place + np.array([0, 0, shift]), pose.rotation.quaternion)
        leaver.close()
        with Client(viewer) as client:
            client.drag("/target/tool", pose.position, pose.rotation.quaternion)
            wait(lambda: np.abs(arm.pose("tool", shown(viewer)).position - pose.position).max() < 2e-4)


def test_overlays_follow(viewer, robot):
    viewer.frames("foot-lf")
    viewer.center_of_mass()
    viewer.inertias()
    viewer.trace("foot-lf")
    foot = simulate.SphereContact("foot-lf", 0.02)
    viewer.contacts([foot], forces=[[0.0, 0.0, 10.0]], friction=0.5)
    start = robot.pose("foot-lf", robot.home()).position
    q = robot.random(np.random.default_rng(2))
    viewer.update(q)
    overlays = viewer.scene().overlays
    assert list(overlays) == ["frame foot-lf", "centre of mass", "inertias", "trace foot-lf", "contacts"]
    frame, com, inertias, trace, contacts = overlays.values()
    place, center = robot.pose("foot-lf", q).position, robot.center_of_mass(q)
    np.testing.assert_allclose(frame.points, [place], atol=1e-6)
    np.testing.assert_allclose(com.points[:, :2], [center[:2]] * 2, atol=1e-6)
    assert com.points[0, 2] == pytest.approx(center[2], abs=1e-6)
    expected = [robot.pose(body.name, q) @ body.inertia.com for body in robot.bodies]
    np.testing.assert_allclose(inertias.points, expected, atol=1e-6)
    np.testing.assert_allclose(trace.points, [start, place], atol=1e-6)
    np.testing.assert_allclose(contacts.points, [place - [0, 0, 0.02]], atol=1e-6)  # where the sphere touches
    ((tail, head),) = contacts.arrows
    np.testing.assert_allclose(tail, contacts.points[0], atol=1e-6)
    assert head[2] > tail[2]
    assert contacts.cones == (True,)
    viewer.contacts([foot], forces=[[0.0, 0.0, 0.0]], friction=0.5)  # again: in place of the first
    assert list(viewer.scene().overlays) == list(overlays)
    assert viewer.scene().overlays["contacts"].cones == (False,)
    with pytest.raises(InputError, match="friction"):
        viewer.contacts([foot], friction=-1.0)
    assert "contacts" in viewer.scene().overlays  # those before stay


def test_contact_forces_are_those_of_the_run_until_a_person_moves_it(viewer, robot, tmp_path, monkeypatch):
    feet = [simulate.SphereContact(foot, 0.02) for foot in robot.frames if foot.startswith("foot")]
    controller = simulate.PD(80.0, 2.0)
    q = robot.home()
    q[2] += 0.05
    run = simulate.Simulator(robot, dt=0.005, contacts=feet, controller=controller)(q, seconds=0.5)
    viewer.contacts(feet, friction=0.8)
    viewer.play(run, charts=False)
    viewer.pause()
    viewer.seek(0.5)

    def pushes():
        arrows = viewer.scene().overlays["contacts"].arrows
        return arrows[:, 1] - arrows[:, 0]

    at_rest = pushes()
    weight = 9.81 * sum(body.inertia.mass for body in robot.bodies)
    meters = at_rest.sum(axis=0) @ run.forces[-1].sum(axis=0) / np.sum(run.forces[-1].sum(axis=0) ** 2)
    np.testing.assert_allclose(at_rest, meters * run.forces[-1], atol=1e-6)
    assert run.forces[-1, :, 2].sum() == pytest.approx(weight, rel=0.1)
    sizes = []

    class Recorder:
        def insert_sleep(self, _):
            sizes.append(len(pushes()))

        def as_html(self):
            return "page"

    with monkeypatch.context() as patch:
        patch.setattr(viewer.server, "get_scene_serializer", Recorder)
        viewer.save(tmp_path / "page.html")
    assert len(sizes) == 16  # 30 a second
    assert (min(sizes), max(sizes)) == (0, 4)  # it falls at first
    np.testing.assert_allclose(pushes(), at_rest, atol=1e-6)
    with Client(viewer) as client:
        client.slide("lf-hip", -0.5)
        wait(lambda: not len(pushes()))
        assert viewer.scene().overlays["contacts"].cones == (False,) * 4


def test_bodies_are_translucent_while_something_inside_is_drawn(viewer, robot):
    def opacity():
        return viewer.scene().robots[robot.name].links["trunk"].opacity

    with Client(viewer) as client:
        client.slide("inertias", True)
        wait(lambda: "inertias" in viewer.scene().overlays and opacity() < 1)
        viewer.center_of_mass()
        client.slide("inertias", False)
        wait(lambda: "inertias" not in viewer.scene().overlays)
        assert opacity() < 1
        assert viewer.scene().boxes == {"centre of mass": True, "inertias": False}
        viewer.center_of_mass(False)
        assert opacity() == 1
        assert not viewer.scene().boxes["centre of mass"]


@pytest.mark.parametrize(("mu", "normal"), [(0.5, [0, 0, 1.0]), (1.2, [0.6, 0, 0.8]), (0.0, [1.0, 0, 0])])
def test_cones_have_the_slope_of_friction(mu, normal):
    vertices, faces = friction_cone(mu, np.array(normal), 2.0)
    along = vertices[1:] @ normal
    across = np.linalg.norm(vertices[1:] - along[:, None] * normal, axis=1)
    np.testing.assert_allclose(across, mu * along, atol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(vertices[1:], axis=1), 2.0, rtol=1e-6)
    assert (vertices[0] == 0).all()
    assert faces.shape == (32, 3)


def test_a_run_plays_pauses_and_is_saved(viewer, robot, tmp_path):
    simulator = simulate.Simulator(robot, dt=0.01, method="euler")
    run = simulator(robot.home(), seconds=0.5)
    viewer.play(run)
    time.sleep(0.3)
    viewer.pause()
    with Client(viewer) as client:  # scrubbed while it plays
        client.press("play")
        wait(lambda: viewer.scene().run.playing)
        client.slide("time [s]", 0.4)
        wait(lambda: not viewer.scene().run.playing and viewer.scene().run.t == pytest.approx(0.4))
    viewer.seek(0.25)
    assert viewer.scene().run.bar == pytest.approx(0.25)
    assert len(viewer.scene().run.charts) > 2
    for t, *lines, upright in viewer.scene().run.charts:
        (rows,) = np.nonzero(np.isfinite(upright))
        np.testing.assert_allclose(t[rows], 0.25)
        assert np.ptp(upright[rows]) >= np.ptp(lines)
    np.testing.assert_allclose(shown(viewer), run.q[np.searchsorted(run.t, 0.25)], atol=1e-12)
    page = tmp_path / "page.html"
    viewer.save(page)
    assert viewer.scene().run.t == 0.25
    np.testing.assert_allclose(shown(viewer), run.q[np.searchsorted(run.t, 0.25)], atol=1e-12)
    text = page.read_text()
    assert "__VISER_EMBED_DATA__" in text
    viewer.record(tmp_path / "run.gif", size=(64, 48), rate=4.0)
    from PIL import Image

    with Image.open(tmp_path / "run.gif") as gif:
        assert gif.n_frames == 3
    with pytest.raises(InputError, match="gif"):
        viewer.record(tmp_path / "run.avi")


def positions_heard(client):
    """The last position of each link that a client has heard."""
    heard = [message for kind, message in client.heard if kind == "SetPositionMessage"]
    return {m["name"]: tuple(m["position"]) for m in heard if m["name"].startswith("/quadruped/")}


def test_messages_arrive_in_ten_tabs(viewer, robot):
    """Each update reaches each client, with all links; one is sent when the one before has arrived everywhere."""
    with ExitStack() as stack:
        clients = [stack.enter_context(Client(viewer)) for _ in range(10)]
        for q in robot.random(np.random.default_rng(3), (10,)):
            viewer.update(q)
            links = viewer.scene().robots[robot.name].links
            sent = {f"/quadruped/{link}": tuple(map(float, now.pose.position)) for link, now in links.items()}
            wait(lambda sent=sent: all(positions_heard(client) == sent for client in clients))


def test_nonsense_from_a_client_does_not_end_it(viewer):
    joint = next(joint for joint in viewer.robot.joints if joint.nq == 1)
    for words in (b"\x00\x01nonsense", "words", b"", msgspec.msgpack.encode({"type": "NoSuchMessage"})):
        with Client(viewer) as client:
            client.say_raw(words)
    with Client(viewer) as client:
        client.slide(joint.name, "words")
    with Client(viewer) as client:
        client.say(_messages.GuiUpdateMessage("no such thing", {"value": 1.0}))
        client.say(_messages.GuiUpdateMessage(client.uuid(joint.name), {"no_such_thing": 1.0}))
    upper = viewer.scene().sliders[joint.name].upper
    with Client(viewer) as client:
        client.slide(joint.name, upper)
        wait(lambda: shown(viewer)[joint.q.start] == pytest.approx(upper))


def start(viewer):
    """Play a short run."""
    run = simulate.Simulator(viewer.robot, dt=0.01, method="euler")(viewer.robot.home(), seconds=0.02)
    viewer.play(run, charts=False)


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda viewer: viewer.update([0.0]), "q"),
        (lambda viewer: viewer.update(np.full(19, np.nan)), "q"),
        (lambda viewer: viewer.update(viewer.robot.home(), name="other"), "other"),
        (lambda viewer: viewer.add(viewer.robot), "quadruped"),
        (lambda viewer: viewer.add(viewer.robot, name="b", place=[1.0, 0, 0]), "place"),
        (lambda viewer: viewer.frames("nose"), "nose"),
        (lambda viewer: viewer.seek(0.0), "play"),
        (lambda viewer: viewer.record("x.gif"), "play"),
        (lambda viewer: (start(viewer), viewer.record("x.gif", size=(0, 0))), "size"),
        (lambda viewer: (start(viewer), viewer.record("x.gif", rate=0.0)), "rate"),
        (lambda viewer: (start(viewer), viewer.record("x.gif", progress="yes")), "progress"),
        (lambda viewer: viewer.play("run"), "run"),
        (lambda viewer: viewer.save("no/such/place.html"), "path"),
        (lambda viewer: viewer.contacts(["foot-lf"]), "contacts"),
        (lambda viewer: viewer.contacts([simulate.SphereContact("foot-lf")], forces=[1.0, 2, 3]), "forces"),
        (lambda viewer: viewer.contacts([simulate.SphereContact("foot-lf")], friction=-1.0), "friction"),
        (lambda viewer: viewer.contacts([simulate.SphereContact("foot-lf")], normal=[0.0, 0, 0]), "normal"),
        (lambda viewer: viewer.center_of_mass("yes"), "shown"),
    ],
)
def test_bad_input_is_named(viewer, call, word):
    with pytest.raises(InputError, match=word):
        call(viewer)


def test_notebooks_show_the_page_or_where_they_are_elsewhere_the_scene(viewer, monkeypatch):
    for name in ("JUPYTERHUB_USER", "SSH_CONNECTION"):
        monkeypatch.delenv(name, raising=False)
    assert f'src="{viewer.url}"' in viewer._repr_html_()
    monkeypatch.setenv("SSH_CONNECTION", "here there")
    shown = viewer._repr_html_()
    assert viewer.url not in shown
    assert "srcdoc=" in shown
    assert "__VISER_EMBED_DATA__" in shown


def test_films_need_ffmpeg_and_get_every_picture(viewer, robot, tmp_path, monkeypatch):
    viewer.play(simulate.Simulator(robot, dt=0.01, method="euler")(robot.home(), seconds=0.2), charts=False)
    viewer.pause()
    film = tmp_path / "run.mp4"
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(InputError, match="needs the program ffmpeg, which is not there"):
        viewer.record(film)
    stand_in = tmp_path / "ffmpeg"  # keeps what it is told in place of a film
    stand_in.write_text('#!/bin/sh\nfor last; do :; done\n/bin/cat > "$last"\n')
    stand_in.chmod(0o755)
    viewer.record(film, size=(64, 48), rate=10.0)
    assert film.stat().st_size == 3 * 64 * 48 * 3  # at 0.01, 0.11 and 0.2 s
    stand_in.write_text("#!/bin/sh\n/bin/cat > /dev/null\necho no such codec >&2\nexit 1\n")
    with pytest.raises(InputError, match="no such codec"):
        viewer.record(film, size=(64, 48), rate=10.0)
    stand_in.write_text("#!/bin/sh\necho unknown encoder >&2\nexit 1\n")  # before it has read a frame
    with pytest.raises(InputError, match="ffmpeg failed: unknown encoder"):
        viewer.record(film, size=(320, 240), rate=100.0)
    stand_in.write_text("#!/bin/sh\nexit 0\n")
    with pytest.raises(InputError, match="ffmpeg failed: it ended with status 0"):
        viewer.record(film, size=(320, 240), rate=100.0)


def test_recording_states_its_cost_and_shows_progress(viewer, robot, tmp_path, capsys):
    viewer.play(simulate.Simulator(robot, dt=0.01, method="euler")(robot.home(), seconds=0.2), charts=False)
    viewer.pause()
    path = tmp_path / "run.gif"
    viewer.record(path, (64, 48), 10.0)
    assert not capsys.readouterr().err  # no terminal
    viewer.record(path, (64, 48), 10.0, progress=True)
    first, *_ = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r"recording 3 frames of 64 x 48 pixels, about \d+ s", first)


@pytest.fixture
def reports(monkeypatch):
    """The errors of threads."""
    reports = []
    monkeypatch.setattr(threading, "excepthook", lambda report: reports.append(str(report.exc_value)))
    return reports


def test_an_error_while_a_slider_is_moved_is_reported_and_the_next_one_counts(viewer, monkeypatch, reports):
    joint = [joint for joint in viewer.robot.joints if joint.nq == 1][2]
    with Client(viewer) as client:
        viewer.trace("foot-lf")
        with monkeypatch.context() as patch:
            patch.setattr(Trace, "follow", lambda *_: 1 / 0)
            client.slide(joint.name, -0.5)
            wait(lambda: reports)
        assert reports == ["division by zero"]
        client.slide(joint.name, -0.25)
        wait(lambda: shown(viewer)[joint.q.start] == pytest.approx(-0.25))


def test_an_error_while_a_run_plays_is_reported_and_the_player_lives(viewer, robot, monkeypatch, reports):
    viewer.play(simulate.Simulator(robot, dt=0.01, method="euler")(robot.home(), seconds=0.5), charts=False)
    with monkeypatch.context() as patch:
        patch.setattr(type(viewer), "update", lambda *_: 1 / 0)
        wait(lambda: reports)
    before = shown(viewer)
    wait(lambda: not np.array_equal(shown(viewer), before))

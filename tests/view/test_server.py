"""Who the viewer answers: its own page, and nobody else's."""

import ast
import asyncio
import http.client
import inspect
import io
import os
import socket
import subprocess
import sys
import threading
import time
import tomllib
from contextlib import redirect_stderr, redirect_stdout, suppress
from pathlib import Path

import pytest
import viser
import websockets
from viser import _messages
from websockets.asyncio.client import connect

import multibody as mb
from multibody.errors import InputError, MultibodyError
from multibody.view.browser.origin_check import OriginCheck

from .client import Client, wait


@pytest.fixture(scope="module")
def viewer():
    with mb.view.show(mb.load("planar-arm"), open_browser=False, hosts=["robot.lab"]) as viewer:
        yield viewer


def status(viewer, path="/", **headers):
    connection = http.client.HTTPConnection("127.0.0.1", viewer.port, timeout=120)
    connection.putrequest("GET", path, skip_host=True)
    for name, value in headers.items():
        connection.putheader(name, value)
    connection.endheaders()
    code = connection.getresponse().status
    connection.close()
    return code


def socket_status(viewer, host, origin):
    async def knock():
        where = {"host": "127.0.0.1", "port": viewer.port}
        try:
            async with connect(
                f"ws://{host}", origin=origin, subprotocols=["viser-v1.1.1"], compression=None, proxy=None, **where
            ) as connection:
                await asyncio.wait_for(connection.recv(), 10)
                return 101
        except websockets.exceptions.InvalidStatus as refusal:
            return refusal.response.status_code

    return asyncio.run(knock())


@pytest.mark.parametrize(
    ("host", "code"),
    [
        ("localhost", 200), ("localhost:8080", 200), ("127.0.0.1:9999", 200), ("[::1]:1", 200), ("ROBOT.lab:80", 200),
        ("evil.example", 403), ("localhost.evil.example", 403), ("127.0.0.1.evil.example:8080", 403), ("", 403),
    ],
)  # fmt: skip
def test_pages_are_for_known_hosts(viewer, host, code):
    assert status(viewer, Host=host) == code


def test_pages_are_for_their_own_origin(viewer):
    own = f"127.0.0.1:{viewer.port}"
    assert status(viewer, Host=own, Origin=f"http://{own}") == 200
    for origin in ("http://evil.example", "null", f"https://{own}", "http://127.0.0.1:1"):
        assert status(viewer, Host=own, Origin=origin) == 403
    assert status(viewer) == 403  # no Host at all


def test_sockets_are_for_their_own_page(viewer):
    own = f"localhost:{viewer.port}"
    assert socket_status(viewer, own, f"http://{own}") == 101
    assert socket_status(viewer, own, None) == 101
    assert socket_status(viewer, own, "http://evil.example") == 403
    assert socket_status(viewer, "evil.example", "http://evil.example") == 403


def test_no_file_but_its_own(viewer):
    own = f"127.0.0.1:{viewer.port}"
    for path in ("/../../../../etc/passwd", "/%2e%2e/%2e%2e/etc/passwd", "/..\\..\\x", "/nothing"):
        assert status(viewer, path, Host=own) == 404


def test_the_public_tunnel_is_off(viewer, monkeypatch):
    """A client that asks for it is not heard, and none is offered the button; viser itself would listen."""
    asked = []

    class Tunnel:
        def __init__(self, *where):
            asked.append(where)
            raise OSError("no tunnel in tests")

    monkeypatch.setattr(viser._viser, "ViserTunnel", Tunnel)
    with Client(viewer) as client:
        client.say(_messages.ShareUrlRequest())
        client.say(_messages.ShareUrlDisconnect())
        wait(lambda: any(kind == "ThemeConfigurationMessage" for kind, _ in client.heard))
        themes = [message for kind, message in client.heard if kind == "ThemeConfigurationMessage"]
        assert [theme["show_share_button"] for theme in themes] == [False] * len(themes)
        time.sleep(0.2)
    assert not asked
    with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
        plain = viser.ViserServer(host="127.0.0.1", port=0, verbose=False)
        plain.port = plain.get_port()
        with Client(plain) as client:
            client.say(_messages.ShareUrlRequest())
            wait(lambda: asked)
        plain.stop()


def listening():
    """The addresses on which this process listens, as the kernel writes them."""
    rows = [line.split() for kind in ("tcp", "tcp6") for line in Path(f"/proc/net/{kind}").read_text().splitlines()[1:]]
    mine = set()
    for link in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            mine.add(os.readlink(link))
    return {row[1] for row in rows if row[3] == "0A" and f"socket:[{row[9]}]" in mine}


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="Linux tells who listens")
def test_it_listens_on_one_port_of_the_loopback_and_each_viewer_has_its_own(viewer):
    before = listening()
    assert f"0100007F:{viewer.port:04X}" in before
    with mb.view.show(mb.load("planar-arm"), open_browser=False) as other:
        assert other.port != viewer.port
        assert listening() - before == {f"0100007F:{other.port:04X}"}
    wait(lambda: listening() == before)


def test_viser_listens_as_the_guard_knows_it():
    """One call of websockets' serve, with the request handler that is wrapped; the version that was read is pinned."""
    tree = ast.parse(inspect.getsource(viser.infra._infra))
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("serve")]
    assert [ast.unparse(call.func) for call in calls] == ["websockets.asyncio.server.serve"]
    assert {word.arg for word in calls[0].keywords} == {
        "max_size", "compression", "process_request", "subprotocols", "select_subprotocol",
    }  # fmt: skip
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
    assert f"viser=={viser.__version__}" in project["project"]["optional-dependencies"]["view"]


def test_a_viser_that_listens_otherwise_is_not_served(monkeypatch):
    stopped = []

    class Other:
        def __init__(self, **_):
            pass

        def stop(self):
            stopped.append(True)

    monkeypatch.setattr(viser, "ViserServer", Other)
    with pytest.raises(MultibodyError, match="not known here"):
        mb.view.show(mb.load("planar-arm"), open_browser=False)
    assert stopped


SCRIPT = """
import sys, time
import multibody as mb
viewer = mb.view.show(mb.load("planar-arm"), open_browser=False)
print(viewer.port, flush=True)
time.sleep(float(sys.argv[1]))
"""


@pytest.mark.parametrize(("seconds", "kill"), [("0", False), ("600", True)])
def test_it_ends_with_its_process(seconds, kill):
    with subprocess.Popen([sys.executable, "-c", SCRIPT, seconds], stdout=subprocess.PIPE, text=True) as process:
        port = int(process.stdout.readline())
        if kill:
            process.terminate()
        process.wait(120)
    assert kill or process.returncode == 0
    with pytest.raises(OSError), socket.create_connection(("127.0.0.1", port), timeout=5):  # noqa: PT011
        pass


def test_without_the_extra_its_name_is_told():
    """Nor does the library itself load any of it."""
    script = (
        "import sys; sys.modules['viser'] = None\n"
        "import multibody as mb; robot = mb.load('planar-arm')\n"
        "print(*sorted({'matplotlib', 'PIL', 'trimesh', 'websockets', 'multibody.view'} & set(sys.modules)))\n"
        "try: mb.view.show(robot)\n"
        "except mb.errors.MultibodyError as error: print(error)\n"
    )
    told = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    first, second = told.splitlines()
    assert not first
    assert "[view]" in second
    assert "needs viser" in second


def test_a_port_that_is_taken_is_told():
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(InputError, match="taken"):
            mb.view.show(mb.load("planar-arm"), port=other.getsockname()[1], open_browser=False)


def test_two_hosts_are_none():
    class Headers:
        def get_all(self, name):
            return ["localhost", "localhost"] if name == "Host" else []

    assert OriginCheck(()).refusal(Headers()) is not None


def test_servers_of_other_threads_start_unchecked(monkeypatch):
    """While a viewer starts, nobody else's websockets are replaced, and another viser answers whom it always did."""
    plain, original, others = viser.ViserServer, websockets.asyncio.server.serve, []

    def start_another():
        with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()):
            others.append(plain(host="127.0.0.1", port=0, verbose=False))

    def start(**options):
        assert websockets.asyncio.server.serve is original
        thread = threading.Thread(target=start_another)
        thread.start()
        thread.join()
        return plain(**options)

    monkeypatch.setattr(viser, "ViserServer", start)
    with mb.view.show(mb.load("planar-arm"), open_browser=False) as viewer:
        others[0].port = others[0].get_port()
        assert status(viewer, Host="evil.example") == 403
        assert status(others[0], Host="evil.example") == 200
    others[0].stop()

"""Who the viewer answers: its own page, and nobody else's."""

import asyncio
import http.client
import socket
from pathlib import Path

import pytest
import websockets
from websockets.asyncio.client import connect

import multibody as mb
from multibody.errors import InputError
from multibody.view.serving import Guard


@pytest.fixture(scope="module")
def viewer():
    with mb.view.show(mb.load("planar-arm"), open_browser=False, hosts=["robot.lab"]) as viewer:
        yield viewer


def status(viewer, path="/", **headers):
    connection = http.client.HTTPConnection("127.0.0.1", viewer.port, timeout=10)
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


def test_the_public_tunnel_is_off(viewer):
    from viser import _messages

    handlers = viewer._server._websock_server._incoming_handlers
    assert _messages.ShareUrlRequest not in handlers
    assert _messages.ShareUrlDisconnect not in handlers


@pytest.mark.skipif(not Path("/proc/net/tcp").exists(), reason="Linux tells who listens")
def test_it_listens_on_the_loopback_alone(viewer):
    rows = [line.split() for line in Path("/proc/net/tcp").read_text().splitlines()]
    listening = [row[1] for row in rows if row[1].endswith(f":{viewer.port:04X}") and row[3] == "0A"]
    assert listening == [f"0100007F:{viewer.port:04X}"]


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

    assert Guard(()).refusal(Headers()) is not None

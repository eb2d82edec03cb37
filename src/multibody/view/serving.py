"""A viser server that answers its own page alone: the one file that reaches into viser and websockets.

Any page that a browser has open can send requests to a server on the loopback. So that no foreign page reads or drives
a robot, requests are answered only when `Host` is a name of this machine (any port, for tunnels) or one of `hosts`, and
`Origin`, where it is sent, is the page of that host: for files and for the web socket alike. viser has no hook for it:
while its server is made, the function of websockets with which it listens is wrapped. The public tunnel that a client
of viser can ask for is switched off.
"""

import http
import socket
from contextlib import redirect_stdout
from dataclasses import dataclass
from io import StringIO
from typing import Any

from multibody._fork import ForkSafeLock
from multibody.errors import InputError, MultibodyError, missing_package

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
FIRST_PORT = 8080
_PATCH_LOCK = ForkSafeLock()


@dataclass(frozen=True)
class Guard:
    """Which requests are answered."""

    hosts: tuple[str, ...]
    """Names without ports, in lower case."""

    def refusal(self, headers: Any) -> str | None:
        """Why a request is refused; None when it is not."""
        named = headers.get_all("Host")
        if len(named) != 1 or _name(named[0]) not in (*LOOPBACK, *self.hosts):
            return f"Host {', '.join(named)!r} is not this viewer's; show(hosts=[...]) allows more names"
        for origin in headers.get_all("Origin"):
            if origin.lower() != f"http://{named[0].lower()}":
                return f"Origin {origin!r} is not this viewer's page"
        return None


def serve(host: str, port: int | None, hosts: tuple[str, ...]) -> Any:
    """A viser server.

    Args:
        host: the address that it listens on.
        port: where; None for the first that is free from `FIRST_PORT` on.
        hosts: names, beyond those of the loopback, under which a browser may ask for it.

    Raises:
        InputError: when the port is taken.
    """
    try:
        import viser
        from viser import _messages
        from websockets.asyncio import server as websockets_server
    except ImportError as error:
        raise missing_package("the viewer needs viser", "view", str(error.name)) from None
    guard = Guard(tuple(name.lower() for name in hosts))
    original = websockets_server.serve
    guarded: list[Any] = []

    def listen(handler: Any, host: str, port: int, *, process_request: Any, **options: Any) -> Any:
        def answer(connection: Any, request: Any) -> Any:
            refusal = guard.refusal(request.headers)
            if refusal is not None:
                return connection.respond(http.HTTPStatus.FORBIDDEN, refusal + "\n")
            return process_request(connection, request)

        # asyncio's own leaves a socket open when another process takes the port between bind and listen
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        guarded.append(socket.create_server((host, port), family=family))
        return original(handler, sock=guarded[-1], process_request=answer, **options)

    with _PATCH_LOCK.hold():
        websockets_server.serve = listen  # type: ignore[assignment]
        try:
            with redirect_stdout(StringIO()):
                server = viser.ViserServer(host=host, port=FIRST_PORT if port is None else port, verbose=False)
        finally:
            websockets_server.serve = original
    if not guarded:
        stop(server)
        raise MultibodyError(f"viser {viser.__version__} listens in a way that is not known here: nothing is served")
    if port is not None and server.get_port() != port:
        stop(server)
        raise InputError(f"port: {port} is taken on {host}; expected one that is free, or None")
    connection = server._websock_server
    for message in (_messages.ShareUrlRequest, _messages.ShareUrlDisconnect):
        connection.unregister_handler(message)
    server.gui.configure_theme(show_logo=False, show_share_button=False)
    server.gui.main_panel.dock_right()
    return server


def stop(server: Any) -> None:
    """End serving, without a word."""
    with redirect_stdout(StringIO()):
        server.stop()


def _name(host: str) -> str:
    """The name of a host without its port."""
    name, colon, port = host.lower().rpartition(":")
    return name if colon and port.isdigit() else host.lower()

"""A viser server that answers its own page only: the one file that reaches into viser.

Any page that a browser has open can send requests to a server on the loopback. So requests are answered only if their
`Host` is a name of this machine (any port, for tunnels) or one of `hosts`, and their `Origin`, if any, is the page of
that host: for files and for the web socket alike. viser has no hook for it. While a server starts, viser's module sees
a stand-in for websockets; it changes only calls whose host is a `_CheckedHost`, so that servers of other threads start
as ever. The public tunnel that a client of viser can ask for is switched off.
"""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

from multibody._fork import ForkSafeLock
from multibody.errors import InputError, MultibodyError, missing_package
from multibody.view.browser.origin_check import OriginCheck

FIRST_PORT = 8080
_PATCH_LOCK = ForkSafeLock()


class _CheckedHost(str):
    """A host that viser hands on to websockets, with the check of requests to it."""

    check: OriginCheck
    is_checked = False


def serve(host: str, port: int | None, hosts: tuple[str, ...]) -> Any:
    """Start a viser server.

    Args:
        host: the address that it listens on.
        port: its port; None for the first free one from `FIRST_PORT` on.
        hosts: names, beyond those of the loopback, under which a browser may ask for it.

    Raises:
        InputError: when the port is taken.
    """
    try:
        import viser
        from viser import _messages
        from viser.infra import _infra
    except ImportError as error:
        raise missing_package("the viewer needs viser", "view", str(error.name)) from None
    infra: Any = _infra
    checked = _CheckedHost(host)
    checked.check = OriginCheck(tuple(name.lower() for name in hosts))
    with _PATCH_LOCK.hold():
        websockets = infra.websockets
        asyncio = SimpleNamespace(server=SimpleNamespace(serve=_checked_serve(websockets.asyncio.server.serve)))
        infra.websockets = SimpleNamespace(**vars(websockets) | {"asyncio": asyncio})
        try:
            with _without_banner():
                server = viser.ViserServer(host=checked, port=FIRST_PORT if port is None else port, verbose=False)
        finally:
            infra.websockets = websockets
    if not checked.is_checked:
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
    """Stop the server quietly."""
    with _PATCH_LOCK.hold(), _without_banner():
        server.stop()


@contextmanager
def _without_banner() -> Iterator[None]:
    """Within this block nothing is printed through rich: viser's words would stay in terminals and saved notebooks."""
    import rich

    console = rich.get_console()
    quiet, console.quiet = console.quiet, True
    try:
        yield
    finally:
        console.quiet = quiet


def _checked_serve(serve: Any) -> Any:
    """The function of websockets that listens, with the check for a `_CheckedHost`."""

    def listen(handler: Any, host: Any, port: Any, **options: Any) -> Any:
        if not isinstance(host, _CheckedHost):
            return serve(handler, host, port, **options)
        # asyncio's own leaves a socket open when another process takes the port between bind and listen
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        options |= {"sock": socket.create_server((str(host), port), family=family)}
        options["process_request"] = host.check.before(options["process_request"])
        host.is_checked = True
        return serve(handler, **options)

    return listen

"""The check of a request's Host and Origin: no foreign page reads or drives a robot."""

import http
from dataclasses import dataclass
from typing import Any

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")


@dataclass(frozen=True)
class OriginCheck:
    """The requests that are answered: of this machine's own page, or of further hosts."""

    hosts: tuple[str, ...]
    """Names without ports, in lower case."""

    def refusal(self, headers: Any) -> str | None:
        """Return the reason why a request is refused, or None."""
        named = headers.get_all("Host")
        if len(named) != 1 or _name(named[0]) not in (*LOOPBACK, *self.hosts):
            return f"Host {', '.join(named)!r} is not this viewer's; show(hosts=[...]) allows more names"
        for origin in headers.get_all("Origin"):
            if origin.lower() != f"http://{named[0].lower()}":
                return f"Origin {origin!r} is not this viewer's page"
        return None

    def before(self, answer: Any) -> Any:
        """Return a handler of requests that checks them before `answer` does."""

        def checked(connection: Any, request: Any) -> Any:
            refusal = self.refusal(request.headers)
            if refusal is not None:
                return connection.respond(http.HTTPStatus.FORBIDDEN, refusal + "\n")
            return answer(connection, request)

        return checked


def _name(host: str) -> str:
    """The name of a host without its port."""
    name, colon, port = host.lower().rpartition(":")
    return name if colon and port.isdigit() else host.lower()

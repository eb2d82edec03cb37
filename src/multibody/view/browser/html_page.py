"""One page without a server that shows a scene and plays a run; and where pages can be opened."""

import html
import os
import sys
from collections.abc import Iterable
from typing import Any

RATE = 30.0
"""Frames a second of a saved page."""
FRAME = "width:100%;height:480px;border:none"


def page_of(server: Any, frames: Iterable[Any]) -> str:
    """Return the HTML of the scene of a server, with one frame for each of the moments that are iterated over."""
    serializer = server.get_scene_serializer()
    for _ in frames:
        serializer.insert_sleep(1 / RATE)
    return serializer.as_html()


def inline(address: str | None = None, page: str | None = None) -> str:
    """Return HTML that shows an address, or a page as it is, in a notebook."""
    source = f'src="{address}"' if page is None else f'srcdoc="{html.escape(page)}"'
    return f'<iframe {source} style="{FRAME}"></iframe>'


def has_screen() -> bool:
    """Return whether a browser that is opened would be seen."""
    return sys.platform in ("darwin", "win32") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def is_remote() -> bool:
    """Return whether a notebook's browser is, as far as one can tell, on another machine than this process."""
    return "google.colab" in sys.modules or any(name in os.environ for name in ("JUPYTERHUB_USER", "SSH_CONNECTION"))

"""A page of the viewer without a browser: it says what viser's page says, and counts what it hears."""

import threading
import time
from dataclasses import fields

import msgspec.msgpack
import zstandard
from viser import _messages
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect


class Client:
    """Connected until the end of its block; `close` leaves in the middle."""

    def __init__(self, viewer, greet=True):
        self._connection = connect(
            f"ws://localhost:{viewer.port}", subprotocols=["viser-v1.1.1"], max_size=None, compression=None,
            proxy=None,
        )  # fmt: skip
        self.heard = []
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        if greet:
            self.say(_messages.ViewerCameraMessage(
                wxyz=(1.0, 0, 0, 0), position=(1.0, 0, 0), fov=0.5, near=0.01, far=100.0, image_height=600,
                image_width=800, look_at=(0.0, 0, 0), up_direction=(0.0, 0, 1.0),
            ))  # fmt: skip

    def say(self, message):
        """Send a message of viser's."""
        values = {field.name: getattr(message, field.name) for field in fields(message)}
        self.say_raw(msgspec.msgpack.encode({"type": type(message).__name__} | values))

    def say_raw(self, words):
        self._connection.send(words)

    def slide(self, label, value):
        """Set a control of the page, by its label, as a person does."""
        self.say(_messages.GuiUpdateMessage(self.uuid(label), {"value": value}))

    def press(self, label):
        """Press a button, by its label."""
        self.slide(label, True)

    def uuid(self, label):
        """The identifier of the control with a label."""
        wait(lambda: self._controls(label))
        return self._controls(label)[-1]

    def _controls(self, label):
        return [m["uuid"] for _, m in list(self.heard) if "props" in m and m["props"].get("label") == label]

    def drag(self, name, position, wxyz=(1.0, 0.0, 0.0, 0.0)):
        """Drag a gizmo."""
        self.say(_messages.TransformControlsUpdateMessage(name, tuple(map(float, wxyz)), tuple(map(float, position))))

    def close(self):
        """Leave, without a word."""
        self._connection.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._connection.close()
        self._listener.join(timeout=5)

    def _listen(self):
        try:
            while True:
                window = self._connection.recv()
                packed = int.from_bytes(window[8:16], "little")
                inner = msgspec.msgpack.decode(zstandard.ZstdDecompressor().decompress(window[16 : 16 + packed]))
                self.heard += [(message["type"], message) for message in inner["messages"]]
        except (ConnectionClosed, OSError):
            return


def wait(condition, seconds=120.0):
    """Until something holds; the limit only ends a hang."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, f"the condition does not hold after {seconds:g} s"
        time.sleep(0.02)

"""`multibody view`: pictures and pages, and what is refused."""

import re
import signal
import subprocess
import sys
import urllib.request

import pytest

from .running import run


def test_picture_and_page(tmp_path):
    picture, page = tmp_path / "arm.png", tmp_path / "arm.html"
    done = run("view", "planar-arm", "--frame", "tool", "--picture", str(picture))
    assert done.code == 0
    assert f"Saved {picture}." in done.out.replace("\n", "")
    assert picture.read_bytes().startswith(b"\x89PNG")
    assert run("view", "planar-arm", "--target", "tool", "--page", str(page)).code == 0
    assert "__VISER_EMBED_DATA__" in page.read_text()


def test_refusals(tmp_path):
    assert "--picture" in run("view", "planar-arm", "--picture", str(tmp_path / "arm.txt")).err
    assert "nose" in run("view", "planar-arm", "--frame", "nose", "--picture", str(tmp_path / "a.png")).err
    assert "--page" in run("view", "planar-arm", "--page", str(tmp_path)).err


@pytest.mark.parametrize(
    "words",
    [
        ["view", "planar-arm", "--target", "tool"],
        pytest.param(["ik", "panda", "--frame", "tool", "--xyz", "0.5", "0", "0.4", "--view"], marks=pytest.mark.slow),
        pytest.param(["simulate", "quadruped", "--seconds", "0.2", "--kp", "80", "--view"], marks=pytest.mark.slow),
    ],
)
def test_it_serves_until_it_is_interrupted(words):
    command = [sys.executable, "-c", "from multibody.cli import main; main()", *words]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        address = next(filter(None, (re.search(r"is at (http://\S+)", line) for line in process.stdout)))[1]
        with urllib.request.urlopen(address, timeout=120) as page:
            assert page.status == 200
            assert b"<html" in page.read()
        process.send_signal(signal.SIGINT)
        assert process.wait(120) == 0

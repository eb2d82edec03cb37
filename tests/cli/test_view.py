"""`multibody view`: pictures and pages, and what is refused."""

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

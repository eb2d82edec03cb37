"""Files that a robot refers to: found where they may be, refused where they may not."""

import struct
from pathlib import Path

import pytest

from multibody.errors import InputError, RobotFileError
from multibody.model.load import load
from multibody.model.loaders.meshes import Meshes, check_stl
from multibody.model.shapes import Mesh

from .urdf_texts import link, robot


def stl(count: int, triangles: int | None = None) -> bytes:
    """A binary STL file that says one count of triangles and has another."""
    return bytes(80) + struct.pack("<I", count) + bytes(50 * (count if triangles is None else triangles))


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """ws/arm/{urdf,meshes}, ws/other/meshes (a package), ws/plain/meshes (none), and a secret beside ws."""
    for place in ("arm/urdf", "arm/meshes", "other/meshes", "plain/meshes"):
        (tmp_path / "ws" / place).mkdir(parents=True)
    for place in ("arm/urdf", "arm/meshes", "other/meshes", "plain/meshes"):
        (tmp_path / "ws" / place / "a.stl").write_bytes(stl(1))
    (tmp_path / "ws/other/package.xml").write_text("<package/>")
    (tmp_path / "secret.stl").write_bytes(stl(1))
    return tmp_path / "ws"


def finder(package: Path, *roots: Path, trust: bool = False) -> Meshes:
    return Meshes(package / "arm/urdf", roots, trust_paths=trust)


@pytest.mark.parametrize(
    ("uri", "place"),
    [
        ("a.stl", "arm/urdf/a.stl"),
        ("./a.stl", "arm/urdf/a.stl"),
        ("file://a.stl", "arm/urdf/a.stl"),
        ("../meshes/a.stl", "arm/meshes/a.stl"),
        ("package://arm/meshes/a.stl", "arm/meshes/a.stl"),
        ("package:///arm/meshes/a.stl", "arm/meshes/a.stl"),
        ("package://arm/urdf/../meshes/a.stl", "arm/meshes/a.stl"),
        (r"package://arm/meshes\a.stl", "arm/meshes/a.stl"),
        ("model://other/meshes/a.stl", "other/meshes/a.stl"),
    ],
)
def test_found(package: Path, uri: str, place: str) -> None:
    assert finder(package).find(uri) == package / place


@pytest.mark.parametrize(
    "uri", ["b.stl", "package://arm/b.stl", "package://nowhere/a.stl", "package://plain/meshes/a.stl", "http://x/a.stl"]
)
def test_missing(package: Path, uri: str) -> None:
    assert finder(package).find(uri) is None


ESCAPES = (
    "../../other/meshes/a.stl",
    "../../../secret.stl",
    "../../../nothing.stl",
    "package://arm/../../secret.stl",
    "package://../../../secret.stl",
    "model://other/../../secret.stl",
    "file://../../../secret.stl",
    "file:///{root}/secret.stl",
    "file:///{root}/%73ecret.stl",
    "{root}/secret.stl",
    r"..\..\..\secret.stl",
)


@pytest.mark.parametrize("uri", ESCAPES)
def test_an_escape_is_refused_unless_paths_are_trusted(package: Path, uri: str) -> None:
    uri = uri.format(root=package.parent)
    with pytest.raises(InputError, match=r"is refused: .* roots=\[...\], or pass trust_paths=True"):
        finder(package).find(uri)
    path = finder(package, trust=True).find(uri)
    assert path is None if "nothing" in uri else path is not None


def test_links_are_followed(package: Path) -> None:
    (package / "arm/urdf/link.stl").symlink_to(package.parent / "secret.stl")
    (package / "arm/meshes/away").symlink_to(package.parent)
    assert finder(package).find("link.stl") == package / "arm/urdf/link.stl"
    away = finder(package).find("package://arm/meshes/away/secret.stl")
    assert away == package / "arm/meshes/away/secret.stl"


def test_the_package_of_the_robot_file_is_the_nearest(package: Path) -> None:
    (package / "package.xml").write_text("<package/>")
    assert finder(package).find("../../other/meshes/a.stl") == package / "other/meshes/a.stl"
    (package / "arm/package.xml").write_text("<package/>")
    with pytest.raises(InputError, match="is refused"):
        finder(package).find("../../other/meshes/a.stl")


def test_the_disk_is_no_package() -> None:
    with pytest.raises(InputError, match="is refused"):
        Meshes(Path("/tmp"), (), trust_paths=False).find("../etc/hostname")


def test_a_text_without_a_file_has_no_directory(package: Path) -> None:
    for uri in ("../a.stl", "/etc/hostname", "file:///etc/hostname"):
        with pytest.raises(InputError, match="is refused"):
            Meshes(None, (), trust_paths=False).find(uri)
    assert Meshes(None, (), trust_paths=False).find("a.stl") is None
    assert Meshes(None, [package / "arm/meshes"], trust_paths=False).find("a.stl") == package / "arm/meshes/a.stl"
    secret = package.parent / "secret.stl"
    assert Meshes(None, (), trust_paths=True).find(f"file://{secret}") == secret


def test_stated_roots(package: Path) -> None:
    assert finder(package, package).find("package://plain/meshes/a.stl") == package / "plain/meshes/a.stl"
    assert finder(package, package / "plain").find("package://plain/meshes/a.stl") == package / "plain/meshes/a.stl"
    assert finder(package, package).find("../meshes/a.stl") == package / "arm/meshes/a.stl"
    absolute = str(package / "plain/meshes/a.stl")
    assert finder(package, package).find(absolute) == Path(absolute)
    (package / "arm/urdf/link.stl").symlink_to(package / "plain/meshes/a.stl")
    assert finder(package, package / "plain").find("link.stl") == package / "arm/urdf/link.stl"
    (package.parent / "alias").symlink_to(package)
    assert finder(package.parent / "alias").find("a.stl") is not None


def test_environment(package: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ROS_PACKAGE_PATH", f"/nowhere:{package}")
    assert Meshes(None, (), trust_paths=False).find("package://plain/meshes/a.stl") == package / "plain/meshes/a.stl"
    monkeypatch.delenv("ROS_PACKAGE_PATH")
    (package / "share").symlink_to(package)
    monkeypatch.setenv("AMENT_PREFIX_PATH", str(package))
    path = Meshes(None, (), trust_paths=False).find("package://plain/meshes/a.stl")
    assert path == package / "share/plain/meshes/a.stl"


@pytest.mark.parametrize("triangles", [0, 1, 5, 10_001])
def test_an_stl_file_that_lies_is_refused(tmp_path: Path, triangles: int) -> None:
    path = tmp_path / "a.stl"
    path.write_bytes(stl(10_000, triangles))
    with pytest.raises(InputError, match=f"10000 triangles, which take 500084 bytes, but has {84 + 50 * triangles}"):
        check_stl(path)


@pytest.mark.parametrize("text", [b"", b"STL", b"solid\0"])
def test_what_is_no_stl_file_is_refused(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "a.stl"
    path.write_bytes(text)
    with pytest.raises(InputError, match="is no STL file"):
        check_stl(path)


@pytest.mark.parametrize(
    "text", [stl(0), stl(7), b"solid" + stl(3)[5:], b"solid a\n facet normal 0 0 1\n endfacet\nendsolid a\n"]
)
def test_good_stl_files(tmp_path: Path, text: bytes) -> None:
    path = tmp_path / "a.stl"
    path.write_bytes(text)
    check_stl(path)


def text_with(uri: str) -> str:
    return robot(link("base", f'<collision><geometry>\n<mesh filename="{uri}"/></geometry></collision>'))


def test_a_robot_with_meshes(package: Path) -> None:
    path = package / "arm/urdf/arm.urdf"
    path.write_text(text_with("package://arm/meshes/a.stl"))
    shape = load(path).link("base").collisions[0].shape
    assert shape == Mesh("package://arm/meshes/a.stl", package / "arm/meshes/a.stl")
    assert not load(path).diagnostics


@pytest.mark.parametrize(
    ("uri", "message"), [("../../other/meshes/a.stl", "is refused"), ("lie.stl", "says that it has 3")]
)
def test_a_robot_with_a_bad_mesh(package: Path, uri: str, message: str) -> None:
    (package / "arm/urdf/lie.stl").write_bytes(stl(3, 1))
    path = package / "arm/urdf/arm.urdf"
    path.write_text(text_with(uri))
    (warning,) = [d for d in load(path).diagnostics if d.level == "warning"]
    assert message in warning.message
    with pytest.raises(RobotFileError, match=message) as caught:
        load(path, strict=True)
    error = caught.value
    assert (error.file, error.line) == (str(path), 3)
    assert error.element == '<mesh> in <geometry> in <collision> in <link name="base">'
    if uri.startswith(".."):
        assert load(path, trust_paths=True) == load(path, roots=[package])

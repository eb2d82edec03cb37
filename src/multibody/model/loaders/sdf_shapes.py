"""Shapes in an SDF file."""

from multibody.model.link import Geometry
from multibody.model.loaders.meshes import Meshes
from multibody.model.loaders.sdf_frames import StatedPoses
from multibody.model.loaders.xml import Document, Element
from multibody.model.shapes import Box, Capsule, Cylinder, Ellipsoid, Mesh, Plane, Shape, Sphere

NOT_READ = ("heightmap", "image", "polyline", "cone", "empty")
"""Shapes of the format that the library does not have."""


class SdfShapeReader:
    """Reads <visual> and <collision>."""

    def __init__(self, document: Document, places: StatedPoses, meshes: Meshes) -> None:
        self._document = document
        self._places = places
        self._meshes = meshes

    def read(self, element: Element, link: str) -> Geometry | None:
        """A shape on a link; None, with a note, for one that the library does not have."""
        document = self._document
        document.attributes(element, "name")
        geometry = element.find("geometry")
        if geometry is None or len(geometry) != 1:
            raise document.error(element, "expected the element <geometry> with one shape, got none or several")
        (shape,) = geometry
        if shape.tag in NOT_READ:
            document.note(shape, "ignored", f"the shape <{shape.tag}> is not read; the robot moves without it")
            return None
        pose = element.find("pose")
        relative = None if pose is None else pose.get("relative_to")
        place = self._places.pose(pose)
        if pose is not None and relative:
            place = self._places.in_model(link, element).inverse() @ self._places.in_model(relative, pose) @ place
        with document.locate(shape):
            made = self._shape(shape)
        return Geometry(made, place, element.get("name") or "", self._color(element))

    def _shape(self, element: Element) -> Shape:
        document = self._document

        def number(name: str) -> float:
            return document.numbers(document.child(element, name), 1)[0]

        match element.tag:
            case "box":
                return Box(document.numbers(document.child(element, "size"), 3))
            case "sphere":
                return Sphere(number("radius"))
            case "cylinder":
                return Cylinder(number("radius"), number("length"))
            case "capsule":
                return Capsule(number("radius"), number("length"))
            case "ellipsoid":
                return Ellipsoid(document.numbers(document.child(element, "radii"), 3))
            case "plane":
                return Plane()
            case "mesh":
                return self._mesh(element)
            case tag:
                known = "box, sphere, cylinder, capsule, ellipsoid, plane, mesh"
                raise document.error(element, f"expected one of {known}, got <{tag}>")

    def _mesh(self, element: Element) -> Mesh:
        document = self._document
        uri = document.content(document.child(element, "uri"))
        scale = element.find("scale")
        x, y, z = (1.0, 1.0, 1.0) if scale is None else document.numbers(scale, 3)
        return Mesh(uri, document.find_file(self._meshes, uri, element), (x, y, z))

    def _color(self, element: Element) -> tuple[float, float, float, float] | None:
        material = element.find("material")
        diffuse = None if material is None else material.find("diffuse")
        if diffuse is None:
            return None
        count = len((diffuse.text or "").split())
        numbers = self._document.numbers(diffuse, 3 if count == 3 else 4)
        r, g, b, a = (*numbers, 1.0)[:4]
        return r, g, b, a

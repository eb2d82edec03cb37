"""Shapes and materials in a URDF file."""

from dataclasses import dataclass

from multibody.model.link import Geometry
from multibody.model.loaders.meshes import Meshes
from multibody.model.loaders.urdf_origin import Origins
from multibody.model.loaders.xml import Document, Element
from multibody.model.shapes import Box, Capsule, Cylinder, Mesh, Shape, Sphere

SHAPES = ("box", "cylinder", "sphere", "capsule", "mesh")

Color = tuple[float, float, float, float]


@dataclass(frozen=True)
class Material:
    """How a shape looks."""

    color: Color | None = None
    texture: str | None = None


class UrdfShapeReader:
    """Reads <visual> and <collision>."""

    def __init__(self, document: Document, origins: Origins, meshes: Meshes) -> None:
        self._document = document
        self._origins = origins
        self._meshes = meshes
        self._materials: dict[str, Material] = {}

    def define(self, element: Element) -> None:
        """Read a material that visuals refer to by its name."""
        name = self._document.name(element, "material")
        material = self._material(element)
        if material is None:
            self._document.warn(element, "ignored", "the material has neither a <color> nor a <texture>")
        self._materials[name] = material or Material()

    def visual(self, element: Element) -> Geometry:
        """A shape to be seen."""
        parts = self._document.parts(element, single=("origin", "geometry", "material"))
        material = self._look(parts["material"][0]) if "material" in parts else Material()
        return self._geometry(element, parts, material)

    def collision(self, element: Element) -> Geometry:
        """A shape to collide with."""
        parts = self._document.parts(element, single=("origin", "geometry"), ignored=("material", "verbose"))
        return self._geometry(element, parts, Material())

    def _geometry(self, element: Element, parts: dict[str, list[Element]], material: Material) -> Geometry:
        self._document.attributes(element, "name")
        shape = self._shape(self._document.child(element, "geometry"))
        pose = self._origins.pose(parts.get("origin"))
        return Geometry(shape, pose, element.get("name") or "", material.color, material.texture)

    def _shape(self, geometry: Element) -> Shape:
        document = self._document
        known = [child for child in geometry if child.tag in SHAPES]
        if len(known) != 1 or len(geometry) != 1:
            tags = ", ".join(f"<{child.tag}>" for child in geometry) or "none"
            raise document.error(geometry, f"expected one of {', '.join(f'<{s}>' for s in SHAPES)}, got {tags}")
        element = known[0]
        with document.locate(element):
            match element.tag:
                case "box":
                    document.attributes(element, "size")
                    return Box(document.vector(element, "size", 3))
                case "sphere":
                    document.attributes(element, "radius")
                    return Sphere(document.number(element, "radius"))
                case "mesh":
                    return self._mesh(element)
                case tag:
                    document.attributes(element, "radius", "length")
                    kind = Cylinder if tag == "cylinder" else Capsule
                    return kind(document.number(element, "radius"), document.number(element, "length"))

    def _mesh(self, element: Element) -> Mesh:
        document = self._document
        document.attributes(element, "filename", "scale")
        uri = document.text(element, "filename").strip()
        scale = (1.0, 1.0, 1.0)
        if element.get("scale") is not None:
            x, y, z = document.vector(element, "scale", 3)
            scale = (x, y, z)
            if 0.0 in scale:
                raise document.error(
                    element,
                    f"scale: expected numbers that are not 0 (negative ones mirror), got {element.get('scale')!r}",
                )
        return Mesh(uri, document.find_file(self._meshes, uri, element), scale)

    def _look(self, element: Element) -> Material:
        """The material of a visual: its own, or that of its name."""
        own = self._material(element)
        name = element.get("name") or ""
        if own is not None:
            if name:
                self._materials.setdefault(name, own)
            return own
        if name not in self._materials:
            self._document.warn(element, "assumed", f"no material is named {name!r}: the shape has no colour")
        return self._materials.get(name, Material())

    def _material(self, element: Element) -> Material | None:
        document = self._document
        document.attributes(element, "name")
        parts = document.parts(element, single=("color", "texture"))
        color: Color | None = None
        texture: str | None = None
        if "color" in parts:
            at = parts["color"][0]
            document.attributes(at, "rgba")
            r, g, b, a = document.vector(at, "rgba", 4)
            color = (r, g, b, a)
            if not all(0 <= x <= 1 for x in color):
                document.warn(at, "units", f"rgba: expected numbers from 0 to 1, got {at.get('rgba')!r}")
        if "texture" in parts:
            texture = self._texture(parts["texture"][0])
        return Material(color, texture) if parts else None

    def _texture(self, element: Element) -> str | None:
        self._document.attributes(element, "filename")
        uri = (element.get("filename") or "").strip()
        if not uri:
            self._document.warn(element, "ignored", "the texture has no filename")
            return None
        path = self._document.find_file(self._meshes, uri, element, "texture")
        return uri if path is None else str(path)

"""Mesh files: what is written comes back, with colours, units and scales; what is missing is told."""

import numpy as np
import pytest

import multibody as mb
from multibody.errors import InputError
from multibody.view.shapes import mesh_files
from multibody.view.shapes.visual_shapes import visual_shapes

GRAY = (0.5, 0.5, 0.5, 1.0)
CORNERS = np.array([[0.0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
FACES = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]])

DAE = """<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1">
 <asset><unit meter="0.01" name="centimeter"/><up_axis>Y_UP</up_axis></asset>
 <library_effects><effect id="e"><profile_COMMON><technique sid="common"><lambert>
  <diffuse><color>0.9 0.2 0.1 1</color></diffuse></lambert></technique></profile_COMMON></effect></library_effects>
 <library_materials><material id="m"><instance_effect url="#e"/></material></library_materials>
 <library_geometries><geometry id="g"><mesh>
  <source id="p"><float_array id="pa" count="12">0 0 0 100 0 0 0 100 0 0 0 100</float_array>
   <technique_common><accessor source="#pa" count="4" stride="3"><param name="X" type="float"/>
   <param name="Y" type="float"/><param name="Z" type="float"/></accessor></technique_common></source>
  <vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
  <triangles count="4" material="s"><input semantic="VERTEX" source="#v" offset="0"/>
   <p>0 2 1 0 1 3 1 2 3 0 3 2</p></triangles>
 </mesh></geometry></library_geometries>
 <library_visual_scenes><visual_scene id="vs"><node><translate>0 0 50</translate><instance_geometry url="#g">
  <bind_material><technique_common><instance_material symbol="s" target="#m"/></technique_common></bind_material>
 </instance_geometry></node></visual_scene></library_visual_scenes>
 <scene><instance_visual_scene url="#vs"/></scene>
</COLLADA>"""


def volume(surfaces):
    corners = np.concatenate([surface.vertices[surface.faces] for surface in surfaces])
    return np.sum(corners[:, 0] * np.cross(corners[:, 1], corners[:, 2])) / 6


def written(tmp_path, kind):
    path = tmp_path / f"mesh.{kind}"
    if kind == "dae":
        path.write_text(DAE)
    elif kind == "obj":
        lines = [f"v {x} {y} {z}" for x, y, z in CORNERS] + [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in FACES]
        path.write_text("\n".join(lines))
    else:
        facets = "".join(
            "facet normal 0 0 0\nouter loop\n"
            + "".join("vertex {} {} {}\n".format(*CORNERS[k]) for k in face)
            + "endloop\nendfacet\n"
            for face in FACES
        )
        path.write_text(f"solid x\n{facets}endsolid x\n")
    return path


@pytest.mark.parametrize("kind", ["stl", "obj", "dae"])
def test_files_come_back(tmp_path, kind):
    surfaces = mesh_files.read(written(tmp_path, kind), (1.0, 1.0, 1.0), None, GRAY)
    points = np.concatenate([surface.vertices for surface in surfaces])
    lift = [0, 0, 0.5] if kind == "dae" else [0, 0, 0]  # of its node; centimetres are metres here, and z stays z
    np.testing.assert_allclose(np.unique(points.round(9), axis=0), np.unique(CORNERS + lift, axis=0), atol=1e-9)
    assert volume(surfaces) == pytest.approx(1 / 6)
    assert surfaces[0].color == (pytest.approx((0.9, 0.2, 0.1, 1.0)) if kind == "dae" else GRAY)


def test_scales_mirror_and_robots_colours_win(tmp_path):
    red = (1.0, 0.0, 0.0, 1.0)
    surfaces = mesh_files.read(written(tmp_path, "dae"), (2.0, 2.0, -2.0), red, GRAY)
    assert volume(surfaces) == pytest.approx(8 / 6)  # outward still
    assert surfaces[0].color == red


@pytest.mark.parametrize(
    ("name", "content"), [("a.stl", b"solid"), ("a.obj", b"nothing"), ("a.dae", b"<x/>"), ("a.fbx", b"")]
)
def test_files_that_are_no_meshes_are_told(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content)
    with pytest.raises(InputError, match=name):
        mesh_files.read(path, (1.0, 1.0, 1.0), None, GRAY)


URDF = """<robot name="r"><link name="base"/><link name="arm"><inertial><mass value="1"/>
<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>
<visual><geometry><mesh filename="missing.stl"/></geometry></visual>{collision}</link>
<joint name="j" type="continuous"><parent link="base"/><child link="arm"/><axis xyz="0 0 1"/></joint></robot>"""
BOX = '<collision><geometry><box size="1 1 1"/></geometry></collision>'


@pytest.mark.filterwarnings("ignore::multibody.RobotFileWarning")
@pytest.mark.parametrize("collision", [BOX, ""])
def test_what_stands_for_a_missing_mesh_is_said(tmp_path, collision):
    path = tmp_path / "r.urdf"
    path.write_text(URDF.format(collision=collision))
    parts = visual_shapes(mb.load(path))
    assert "missing.stl" in parts.notes[0]
    assert "arm" in parts.links
    if collision:
        assert volume(parts.links["arm"]) == pytest.approx(1.0)
    else:
        assert "lines" in parts.notes[1]

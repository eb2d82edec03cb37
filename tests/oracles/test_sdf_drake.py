"""An SDF file beside Drake, where that is installed: `pip install drake` beside the extra `test`."""

import numpy as np
import pytest

import multibody as mb

BODY = """<inertial><mass>1.5</mass><pose>0.1 -0.05 0.2 0.3 -0.2 0.5</pose><inertia>
  <ixx>0.05</ixx><iyy>0.06</iyy><izz>0.04</izz><ixy>0.001</ixy><ixz>-0.002</ixz><iyz>0.003</iyz></inertia></inertial>"""
TEXT = f"""<sdf version="1.9"><model name="m"><pose>0.3 0.2 0.1 0.4 0.5 0.6</pose>
<link name="l0">{BODY}</link>
<link name="l1"><pose relative_to="l0">0.2 0 0.3 0.1 0.2 0.3</pose>{BODY}</link>
<link name="l2"><pose degrees="true">0.4 0.1 0.5 10 20 30</pose>{BODY}</link>
<link name="l3"><pose relative_to="j2">0 0.2 0.1 0.5 0 0</pose>{BODY}</link>
<link name="l4"><pose relative_to="l3">0.3 0 0 0 0.7 0</pose>{BODY}</link>
<frame name="f" attached_to="l2"><pose>0.1 0.2 0.3 0.2 0.1 0</pose></frame>
<joint name="j0" type="revolute"><parent>world</parent><child>l0</child>
  <axis><xyz expressed_in="__model__">0 0.6 0.8</xyz></axis></joint>
<joint name="j1" type="prismatic"><parent>l0</parent><child>l1</child><pose>0 0 0 0.3 0 0</pose>
  <axis><xyz>1 2 2</xyz></axis></joint>
<joint name="j2" type="continuous"><parent>l1</parent><child>l2</child><pose relative_to="f">0.1 0 0 0 0 0.4</pose>
  <axis><xyz expressed_in="l1">1 0 0</xyz></axis></joint>
<joint name="j3" type="screw"><parent>f</parent><child>l3</child><pose>0.1 0 0 0 0 0</pose><axis><xyz>0 0 1</xyz></axis>
  <screw_thread_pitch>0.05</screw_thread_pitch></joint>
<joint name="j4" type="universal"><parent>l3</parent><child>l4</child>
  <axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz></axis2>
</joint></model></sdf>"""


@pytest.mark.filterwarnings("ignore")
def test_poses_and_mass_matrix_are_those_of_drake():
    pytest.importorskip("pydrake")
    from pydrake.multibody.parsing import Parser
    from pydrake.multibody.plant import MultibodyPlant

    plant = MultibodyPlant(0.0)
    Parser(plant).AddModelsFromString(TEXT, "sdf")
    plant.Finalize()
    context = plant.CreateDefaultContext()
    robot, rng = mb.load(TEXT), np.random.default_rng(0)
    assert robot.nv == plant.num_velocities() == 6
    names = {joint.name: joint for joint in robot.joints}
    for _ in range(3):
        q = rng.uniform(-1, 1, robot.nq)
        order = np.zeros(6, int)
        for name, joint in names.items():
            theirs = plant.GetJointByName(name)
            for k in range(joint.nv):
                order[theirs.velocity_start() + k] = joint.v.start + k
        plant.SetPositions(context, q[order])
        for link in ("l0", "l1", "l2", "l3", "l4", "f"):
            pose = plant.GetFrameByName(link).CalcPoseInWorld(context).GetAsMatrix4()
            np.testing.assert_allclose(robot.pose(link, q).matrix, pose, rtol=0, atol=1e-12)
        M = plant.CalcMassMatrix(context)
        np.testing.assert_allclose(robot.mass_matrix(q)[np.ix_(order, order)], M, rtol=0, atol=1e-12)
        gravity = -plant.CalcGravityGeneralizedForces(context)
        np.testing.assert_allclose(robot.gravity(q)[order], gravity, rtol=0, atol=1e-11)

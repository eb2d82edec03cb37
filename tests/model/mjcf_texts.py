"""MJCF models for tests: every type of joint, and every way to place it."""

JOINTS = """
<mujoco model="joints">
  <compiler angle="radian"/>
  <option gravity="0.5 -1 -9"/>
  <default><geom density="800"/><default class="stiff"><joint stiffness="3" springref="0.1"/></default></default>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <site name="mark" pos="1 2 3" euler="0.1 0.2 0.3"/>
    <body name="trunk" pos="0 0 1" euler="0.3 0.2 0.1">
      <freejoint/>
      <geom type="box" size="0.1 0.2 0.3" pos="0.1 0 0" euler="0.4 0 1"/>
      <body name="leg" pos="0.1 0.2 0.3" euler="0 1.5707963267948966 0">
        <joint name="hip" class="stiff" axis="1 1 0" pos="0.1 0 0.2" ref="0.4" range="-1 1" armature="0.3" damping="0.1"
               frictionloss="0.2" actuatorfrcrange="-30 30"/>
        <geom type="capsule" size="0.1 0.2" pos="0 0.3 0"/>
        <body name="foot" pos="0 0 0.4">
          <joint name="slide" type="slide" axis="0 1 0.1" pos="1 2 3" ref="0.2" range="-0.5 0.5"/>
          <joint name="roll" axis="0 0 1" pos="0 0.3 0.3"/>
          <joint name="pitch" axis="0 1 1" pos="0 0.3 0.1" ref="-0.3"/>
          <geom type="ellipsoid" size="0.1 0.2 0.3"/>
          <site name="sole" pos="0 0 -0.1" quat="1 2 3 4"/>
          <body name="toe" pos="0.2 0 0"><geom type="cylinder" size="0.05 0.1"/><site name="tip" pos="0.1 0 0"/></body>
        </body>
      </body>
      <body name="arm" pos="0 0.4 0.2">
        <joint name="shoulder" type="ball" pos="0.1 -0.1 0.2" damping="0.5"/>
        <inertial pos="0.1 0.2 0.3" mass="2" fullinertia="0.5 0.4 0.3 0.01 0.02 -0.03"/>
        <body name="hand" pos="0 0 0.5"><joint name="wrist" type="ball" range="0 1"/><geom size="0.1"/></body>
      </body>
    </body>
    <body name="post" pos="0 0 2">
      <geom size="0.1"/>
      <body name="pendulum" pos="0 0 1"><joint name="swing" axis="1 0 0" pos="0 0 -1"/><geom size="0.2"/></body>
      <body name="spinner" pos="1 0 1"><joint name="spin" axis="1 1 1" pos="0.2 0.2 0.2"/><geom size="0.2"/></body>
    </body>
    <body name="crate" pos="5 0 0"><joint type="free" name="loose"/><geom type="box" size="0.1 0.3 0.2"/></body>
  </worldbody>
</mujoco>
"""

GENERATED = """
<mujoco model="generated">
  <compiler autolimits="true" boundmass="0.1" inertiafromgeom="true"/>
  <worldbody>
    <frame pos="0 0 1" euler="30 0 0">
      <replicate count="3" euler="0 0 120">
        <body name="finger" pos="0.1 0 0">
          <joint name="base" axis="0 1 0" range="-30 60"/>
          <geom type="capsule" fromto="0 0 0 0 0 0.1" size="0.02"/>
          <body name="end" pos="0 0 0.1"><joint axis="0 1 0"/><geom type="capsule" fromto="0 0 0 0 0 0.1" size="0.02"/>
            <site name="pad" pos="0 0 0.1"/></body>
        </body>
      </replicate>
    </frame>
    <body><body><joint axis="0 0 1" pos="0 0 1"/><joint axis="0 1 0"/><geom size="0.1"/></body></body>
    <body><freejoint/><geom size="0.1"/><site/><site/></body>
  </worldbody>
</mujoco>
"""

MODELS = {"joints": JOINTS, "generated": GENERATED}

"""MuJoCo without what is not smooth dynamics."""

import mujoco


def smooth(text: str) -> mujoco.MjModel:
    """The model of an MJCF with contacts, limits, dry friction, springs, dampers and equalities switched off."""
    model = mujoco.MjModel.from_xml_string(text)
    for name in ("CONTACT", "LIMIT", "FRICTIONLOSS", "SPRING", "DAMPER", "EQUALITY"):
        model.opt.disableflags |= getattr(mujoco.mjtDisableBit, f"mjDSBL_{name}").value
    return model

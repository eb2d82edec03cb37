"""Constraints stated in a robot's file, such as MJCF's <equality>."""

from multibody.algorithms.constraints.closures import HingeClosure, JointCoupling, PointClosure, Weld
from multibody.algorithms.constraints.constraint import Constraint
from multibody.algorithms.constraints.contacts import point
from multibody.errors import InputError
from multibody.geometry import Pose, Rotation
from multibody.geometry._arrays import truth
from multibody.model.actuator import Equality
from multibody.model.model import Model


def stated(model: Model, *, inactive: bool = False) -> tuple[Constraint, ...]:
    """The constraints of `model.equalities`: "connect" is a PointClosure, "weld"
    a Weld, "hinge" a HingeClosure, "joint" a JointCoupling.

    They are exact; MuJoCo's are soft.

    Args:
        model: the robot.
        inactive: whether to include those that the file deactivates.

    Raises:
        InputError: when the file states a constraint of another kind, such as one of a tendon.

    >>> import multibody as mb
    >>> stated(mb.load("planar-arm").model)
    ()
    """
    if not isinstance(model, Model):
        raise InputError(f"stated: expected the Model of a robot, got {type(model).__name__}")
    truth(inactive, "inactive")
    made: dict[str, Constraint] = {}
    for k, equality in enumerate(model.equalities):
        name = equality.name or f"{equality.kind}{k}"
        while name in made:
            name += "'"
        if equality.active or inactive:
            made[name] = _constraint(model, equality, name)
    return tuple(made.values())


def _constraint(model: Model, equality: Equality, name: str) -> Constraint:
    first, second, data = equality.first, equality.second, equality.data
    match equality.kind:
        case "connect":
            return PointClosure(name, first, second, point(data[:3], name), point(data[3:6], name))
        case "weld":
            # MuJoCo keeps the anchor in the second, then the pose that it has in the first
            pose = Pose(Rotation.from_quaternion(data[6:10]), data[3:6])
            return Weld(name, first, second, pose, Pose(Rotation.identity(), data[:3]))
        case "hinge":
            poses = (Pose(Rotation.from_quaternion(data[k + 3 : k + 7]), data[k : k + 3]) for k in (0, 7))
            return HingeClosure(name, first, second, *poses)
        case "joint":
            return JointCoupling(name, first, second, data[1], data[0], data[2:5])
    raise InputError(
        f"{model.name}: the constraint {name!r} of the file is of the kind {equality.kind!r}, which has no counterpart "
        "here; those of 'connect', 'weld', 'hinge' and 'joint' have"
    )

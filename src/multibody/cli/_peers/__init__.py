"""Other libraries, when they are installed, as peers: the same robot, and what they compute."""

from multibody.cli._peers.casadi import Casadi
from multibody.cli._peers.drake import Drake
from multibody.cli._peers.heyoka import Heyoka
from multibody.cli._peers.mujoco import Mujoco
from multibody.cli._peers.peer import Peer
from multibody.cli._peers.pinocchio import Pinocchio

PEERS: tuple[type[Peer], ...] = (Pinocchio, Mujoco, Drake, Casadi, Heyoka)

__all__ = ["PEERS", "Casadi", "Drake", "Heyoka", "Mujoco", "Peer", "Pinocchio"]

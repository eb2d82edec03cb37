"""Other libraries, when they are installed, as peers: the same robot, and what they compute."""

from peers.casadi import Casadi
from peers.drake import Drake
from peers.heyoka import Heyoka
from peers.mujoco import Mujoco
from peers.peer import Peer
from peers.pinocchio import Pinocchio

PEERS: tuple[type[Peer], ...] = (Pinocchio, Mujoco, Drake, Casadi, Heyoka)

__all__ = ["PEERS", "Casadi", "Drake", "Heyoka", "Mujoco", "Peer", "Pinocchio"]

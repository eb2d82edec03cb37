"""Pictures of robots, and a viewer in the browser.

from multibody import view
view.picture(robot, q, "robot.png")
"""

from multibody.view.picture import picture

__all__ = ["picture"]

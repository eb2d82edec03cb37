"""Robots in the browser, and pictures of them without one.

viewer = mb.view.show(robot)  # sliders in the browser
mb.view.picture(robot, q, "robot.png")
"""

from multibody.view.picture import picture
from multibody.view.viewer import Viewer, show

__all__ = ["Viewer", "picture", "show"]

"""Kinematics and dynamics of robots, one file per algorithm: plain NumPy on (..., n), which also traces."""

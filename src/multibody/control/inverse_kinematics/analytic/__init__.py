"""Inverse kinematics in closed form, for six joints with a spherical wrist."""

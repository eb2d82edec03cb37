"""Triangles: of solids and mesh files, decimated meshes, and the visual shapes of a robot's links."""

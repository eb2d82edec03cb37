"""The page of a viewer: its server, robots in the scene, and the controls beside it."""

"""Maximal coordinates: the velocities of and forces on all links, as physics engines hold them."""

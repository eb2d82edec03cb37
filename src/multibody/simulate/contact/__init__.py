"""The contact problem of a step: which contacts touch, the impulses that solve it, and the correction of positions."""

"""Changes to a model: each function takes one and returns another."""

"""Models of robots: joints, bodies, trees, builders and loaders. Frozen data."""

"""The graph of scalar operations: nodes, simplification, loops, substitution."""

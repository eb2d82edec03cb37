"""Results of a derivation: equations, and their linearisation, equilibria, comparison and kernels."""

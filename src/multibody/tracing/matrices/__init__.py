"""Linear algebra: operations on whole matrices as nodes, and unrolled."""

"""LLVM IR of operations on whole matrices: loops over register tiles."""

"""LLVM IR of a kernel: segments, loops, inputs and outputs, the entry."""

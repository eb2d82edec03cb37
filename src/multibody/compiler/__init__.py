"""From plain NumPy to native kernels: trace, graph, passes, segments, LLVM, kernel, cache. No robots here."""

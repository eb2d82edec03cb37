"""From graphs to native kernels: passes, segments, LLVM, kernel, scan, cache; other targets. No robots here."""

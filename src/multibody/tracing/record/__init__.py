"""Recording a function: traces, loops, nested results, purity."""

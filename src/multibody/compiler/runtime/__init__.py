"""Native code in this process: object code, linking, launching, worker threads."""

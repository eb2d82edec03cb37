"""The store of a study on disk: its format, commits of chunks, the lock, and the ways to read it."""

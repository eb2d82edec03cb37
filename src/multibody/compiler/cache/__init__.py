"""Keys of compiled code, and where it is stored: in memory and on disk."""

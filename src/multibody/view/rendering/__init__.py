"""A renderer of our own: cameras, a z-buffer rasteriser, light and shadows, in NumPy alone."""

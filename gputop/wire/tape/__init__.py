"""Frames in a file: compressed JSON lines, readable up to the last frame that reached the disk."""

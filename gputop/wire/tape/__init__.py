"""Recordings: frames in a file of compressed JSON lines, readable up to the last frame that reached the disk."""

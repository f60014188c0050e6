"""Panels of the main screen, each of which draws the given frame."""

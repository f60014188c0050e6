"""Histories of values, and the control of a playback."""

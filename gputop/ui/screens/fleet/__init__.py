"""The screen of a fleet."""

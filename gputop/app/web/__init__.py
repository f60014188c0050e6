"""The screen and the wall for browsers."""

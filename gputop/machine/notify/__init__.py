"""Notifications that leave the terminal: by a command of the user, or on the desktop."""

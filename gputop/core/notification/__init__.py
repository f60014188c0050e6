"""Notifications: the conditions that the user waits for, and what is sent when one holds."""

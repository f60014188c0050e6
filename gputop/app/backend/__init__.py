"""Backends: the kinds of box that gputop reads and changes, chosen once from a request."""

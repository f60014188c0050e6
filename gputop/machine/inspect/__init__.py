"""The details of one process, read from /proc."""

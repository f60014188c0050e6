"""The details of one process, and their text."""

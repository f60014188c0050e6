"""Use cases on many hosts at once."""

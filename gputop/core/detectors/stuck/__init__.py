"""The detector of hung jobs."""

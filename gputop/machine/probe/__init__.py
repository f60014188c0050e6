"""The worker processes of a probe."""

"""The detector of orphaned processes and of GPU memory that no process owns."""

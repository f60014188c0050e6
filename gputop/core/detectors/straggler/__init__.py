"""The detector of slow ranks and GPUs."""

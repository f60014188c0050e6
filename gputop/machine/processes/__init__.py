"""The processes on the GPUs: identity, owner, container, progress."""

"""The processes that use GPUs: identity, owner, container, progress."""

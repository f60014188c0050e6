"""The filter language, and the selection of GPUs."""

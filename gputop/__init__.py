"""gputop: a terminal UI process manager for NVIDIA GPUs."""

__version__ = "0.1.0"

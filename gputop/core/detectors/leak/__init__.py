"""The detector of GPU and host memory leaks."""

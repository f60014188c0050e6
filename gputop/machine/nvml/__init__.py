"""The NVIDIA driver library: the only package that knows pynvml."""

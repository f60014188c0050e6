"""The NVIDIA driver library. The only package that knows pynvml."""

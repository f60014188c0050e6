"""Reads and changes of this machine: the only room that knows pynvml and /proc."""

"""CUDA MPS: a daemon that lets several processes share a GPU."""

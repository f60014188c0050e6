"""The sources of an explanation on this machine: stacks, the kernel, NCCL, PyTorch, MPS."""

"""Tests of GPUs in torch alone. ``plugin`` is what gputop loads; the rest runs in a worker, and knows no gputop."""

"""The detectors: a file a question. `gputop.core.builtin` lists them."""

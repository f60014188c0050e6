"""The detectors: a file a question. `gputop.core.detectors.registry` lists them."""

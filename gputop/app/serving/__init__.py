"""Use cases that serve: the sampler behind the screen."""

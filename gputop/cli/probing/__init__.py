"""How a run of `gputop probe` is carried out."""

"""What the screen and the sampler say to each other: commands, outcomes, links."""

"""The boxes that can be simulated: a plan each."""

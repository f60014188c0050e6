"""Opens the real machine, a simulated box or a plugin source."""

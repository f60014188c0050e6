"""Usage: what frames add up to, for programs that read counters."""

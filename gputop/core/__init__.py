"""What we know: values and pure functions. No I/O, no clock, no threads."""

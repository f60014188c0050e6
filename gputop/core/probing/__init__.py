"""What a probe found: its events, its results, and what is made of them. Pure values and functions."""

"""Readers of the facts that the doctor judges. Every reading has a time limit, and none changes the host."""

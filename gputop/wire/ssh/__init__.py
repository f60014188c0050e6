"""Samplers and commands on other hosts, by the system's ssh."""

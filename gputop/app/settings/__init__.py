"""The configuration file: read, explained and edited."""

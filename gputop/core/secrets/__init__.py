"""Secrets in environments and command lines: which text holds one, and the same text with it masked."""

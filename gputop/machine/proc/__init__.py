"""Readers of /proc files: processes, threads, CPU, host."""

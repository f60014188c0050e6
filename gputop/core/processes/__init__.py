"""Processes on GPUs: programs, jobs, owners, use of GPUs, the columns of the process table."""

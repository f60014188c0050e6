"""Commands on many hosts: the script for Slurm, and the results."""

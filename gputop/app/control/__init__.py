"""Use cases that change a box: signals, nice values, MIG layouts."""

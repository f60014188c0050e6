"""MIG: how GPUs are split, plans for other layouts, and carrying them out."""

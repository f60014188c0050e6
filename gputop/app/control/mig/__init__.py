"""MIG: the current layouts, plans for other layouts, and their execution."""

"""What the screen knows: the view, the selection, plots, followed signals."""

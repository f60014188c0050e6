"""The state of the screen: the view, the selection, plots, follow-ups of signals."""

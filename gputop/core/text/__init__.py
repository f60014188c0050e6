"""Terminal-safe text: cleaning, widths, ASCII, plots."""

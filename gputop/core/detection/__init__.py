"""From samples to findings: the detector interface, the judge, the watchlist and the timeline."""

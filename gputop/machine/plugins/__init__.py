"""Plugin discovery, and the checks on what a plugin returns."""

"""Plugin discovery, and the checks of plugin results."""

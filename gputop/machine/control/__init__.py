"""Changes to processes: identity check, signal or priority, audit log."""

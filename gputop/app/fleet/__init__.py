"""Fleet: many hosts at a glance."""

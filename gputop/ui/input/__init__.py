"""Actions, key bindings and text input."""

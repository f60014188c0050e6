"""MIG page and its dialogs."""

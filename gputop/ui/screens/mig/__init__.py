"""The MIG page and its dialogs."""

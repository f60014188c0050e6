"""The settings and their text in TOML."""

"""The plugin API, and the tables of rows that plugins added."""

"""The HTTP API of a Prometheus server, and the pages of exporters. What comes back is foreign text."""

"""What the exporter and the pages for a browser share: an address, TLS, and who may read."""

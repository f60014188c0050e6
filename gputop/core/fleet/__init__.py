"""Many GPU hosts, as a Prometheus server or their exporters know them."""

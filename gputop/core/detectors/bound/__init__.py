"""The detector of bottlenecks: what limits the speed of a job."""

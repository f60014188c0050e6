"""Alerts that leave gputop: findings for receivers, and rules for Prometheus."""

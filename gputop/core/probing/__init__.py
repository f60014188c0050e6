"""Probes: plans, events, results and their judgement."""

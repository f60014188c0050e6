"""Runs of `gputop probe`: from a request to a report. Start reading in `run`."""

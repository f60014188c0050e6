"""Is this box well? Facts in, verdicts out: pure functions, a row each in `table.py`."""

"""What holds for all tests."""

from types import FunctionType


def pytest_make_parametrize_id(val: object) -> str | None:
    """Name functions by their names: pytest would take their addresses, which differ from worker to worker."""
    return val.__name__ if isinstance(val, FunctionType) else None

"""The entry point. It imports lean first: start-up is a budget, and a snapshot is run by scripts all day."""

import sys


def main() -> None:
    """Run gputop and end the process with its exit status."""
    _import_msgspec()
    from gputop.cli import main as run  # noqa: PLC0415 - after the lean import

    run(sys.argv[1:])


def _import_msgspec() -> None:
    """Import msgspec without typing_extensions, which it would load if installed (10 ms) and does not need."""
    name = "typing_extensions"
    if name not in sys.modules:
        sys.modules[name] = None  # type: ignore[assignment] # makes its import fail, as if it were not installed
        try:
            import msgspec  # noqa: F401, PLC0415
        finally:
            del sys.modules[name]


if __name__ == "__main__":
    main()

"""The entry point."""

import gc
import sys

gc.disable()  # a short snapshot has no garbage before its end; longer runs turn it on again


def main() -> None:
    """Run gputop and end the process with its exit status."""
    from gputop.lazy_imports import lean  # noqa: PLC0415

    lean("argparse")
    lean("msgspec")
    from gputop.cli.main import main as run  # noqa: PLC0415

    run(sys.argv[1:])


if __name__ == "__main__":
    main()

"""The entry point."""

import gc
import sys

gc.disable()  # nothing that lives for a snapshot only is garbage before its end; longer runs enable it again


def main() -> None:
    """Run gputop and end the process with its exit status."""
    from gputop.lazy_imports import lean  # noqa: PLC0415

    lean("argparse")
    lean("msgspec")
    from gputop.cli.main import main as run  # noqa: PLC0415

    run(sys.argv[1:])


if __name__ == "__main__":
    main()

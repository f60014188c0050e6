"""The entry point."""

import gc
import os
import sys

gc.disable()  # a short snapshot has no garbage before its end; longer runs turn it on again


def main() -> None:
    """Run gputop and end the process with its exit status."""
    _leave_working_directory()
    from gputop.lazy_imports import lean  # noqa: PLC0415

    lean("argparse")
    lean("msgspec")
    from gputop.cli.main import main as run  # noqa: PLC0415

    run(sys.argv[1:])


def _leave_working_directory() -> None:
    """Import nothing from the working directory, unless gputop itself lies there, or the user has named it.

    ``python -m`` and an empty entry of PYTHONPATH put it on the path.
    """
    try:
        here = os.getcwd()
    except OSError:
        here = ""
    if here not in sys.path and "" not in sys.path:
        return
    import site  # noqa: PLC0415 - Python has loaded it, and this is rare

    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    named = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    kept = {own, *named, *site.getsitepackages(), site.getusersitepackages()} - {""}
    sys.path[:] = [path for path in sys.path if path not in ("", here) or path in kept]


if __name__ == "__main__":
    main()

"""The labelled suites in full, a few minutes each: ``make detectors ARGS=leaks``, behaviour or jobs; all without."""

import sys

from detector_benchmark import behaviour, jobs, leaks
from detector_benchmark.scoring import DEVELOPMENT, HELD_OUT


def main(names: list[str]) -> None:
    """Print the figures on the seeds that the detectors were tuned on, then on those that they never saw."""
    for title, seeds, mixed in (("development", DEVELOPMENT, 240), ("held out", HELD_OUT, 400)):
        print(f"=== {title}: seeds {seeds[0]} to {seeds[-1]}", flush=True)  # noqa: T201
        for name in names or ("leaks", "behaviour", "jobs"):
            print(_figures(name, seeds, mixed), flush=True)  # noqa: T201


def _figures(name: str, seeds: range, mixed: int) -> str:
    if name == "leaks":
        return leaks.report(seeds, mixed // 2, with_limits=seeds == HELD_OUT)
    return behaviour.report(seeds, mixed) if name == "behaviour" else jobs.report(seeds)


if __name__ == "__main__":
    main(sys.argv[1:])

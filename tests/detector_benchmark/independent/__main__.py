"""The figures of the independent traces: ``PYTHONPATH=tests python -m detector_benchmark.independent --half dev``."""

import argparse
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from pathlib import Path
from typing import Final

from detector_benchmark.independent.report import details_text, summary_text
from detector_benchmark.independent.trace import Trace, traces_in
from detector_benchmark.independent.verdicts import Verdict, judged, watched

DEV: Final = Path(__file__).parent / "traces"
KEPT: Final = Path(__file__).parent / "kept"  # for the figures alone: mend a detector with the traces of DEV
KEPT2: Final = Path(__file__).parent / "kept2"  # the same, by a later author
KEPT3: Final = Path(__file__).parent / "kept3"  # the same, by a third author, who has not seen the others
KEPT4: Final = Path(__file__).parent / "kept4"  # the same, by a fourth author
KEPT5: Final = Path(__file__).parent / "kept5"  # the same, by a fifth author
_HALVES: Final = {"dev": DEV, "kept": KEPT, "kept2": KEPT2, "kept3": KEPT3, "kept4": KEPT4, "kept5": KEPT5}


def main() -> None:
    """Judge the traces of a folder and print the figures."""
    options = _options()
    folder = options.folder or _HALVES[options.half]
    traces = [trace for trace in traces_in(folder) if options.only in f"{trace.group}/{trace.name}"]
    if options.show:
        print(_shown(next(trace for trace in traces if trace.name == options.show), options.seeds[0]))  # noqa: T201
        return
    began_s = time.monotonic()
    verdicts = [verdict for seed in options.seeds for verdict in _all(folder, traces, seed, options.jobs)]
    print(summary_text(verdicts))  # noqa: T201
    if options.details or folder == DEV:
        print(details_text(verdicts))  # noqa: T201
    print(f"{sum(one.frames for one in verdicts)} frames in {time.monotonic() - began_s:.0f} s")  # noqa: T201


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m detector_benchmark.independent")
    parser.add_argument("--half", choices=_HALVES, default="dev", help="default: dev")
    parser.add_argument("--folder", type=Path, help="other traces")
    parser.add_argument("--only", default="", help="only traces whose class/name contains this")
    parser.add_argument("--show", metavar="NAME", help="print all that is shown on one trace")
    parser.add_argument("--details", action="store_true", help="also print each mistake; for dev that is the default")
    parser.add_argument("--seeds", type=int, nargs="+", default=[1])
    parser.add_argument("--jobs", type=int, default=1, help="processes to use")
    return parser.parse_args()


def _all(folder: Path, traces: list[Trace], seed: int, jobs: int) -> list[Verdict]:
    if jobs == 1:
        return [judged(trace, seed) for trace in traces]
    with ProcessPoolExecutor(jobs) as pool:
        return list(pool.map(_one, repeat(folder), [trace.name for trace in traces], repeat(seed)))


def _one(folder: Path, name: str, seed: int) -> Verdict:
    return judged(next(trace for trace in traces_in(folder) if trace.name == name), seed)


def _shown(trace: Trace, seed: int) -> str:
    scene = trace.make(seed)
    episodes, frames = watched(scene)
    lines = [f"{trace.group}/{trace.name}: {trace.truth}", *(str(one) for one in (*scene.wants, *scene.allows))]
    for each in sorted(episodes, key=lambda one: min(one.first_s.values())):
        stages = ", ".join(
            f"{stage.value} {at_s:.0f}-{each.last_s[stage]:.0f} s" for stage, at_s in each.first_s.items()
        )
        lines.append(f"  {each.code} [{stages}] on {','.join(sorted(each.names))}: {each.summary}")
    return "\n".join([*lines, f"{frames} frames"])


if __name__ == "__main__":
    main()

"""Programs with limits: what they began elsewhere."""

import os
from pathlib import Path

from gputop.machine.bounded_run import run_bounded


def test_a_program_at_its_limit_cannot_end_what_it_began_elsewhere(tmp_path: Path) -> None:
    script = f"trap 'touch {tmp_path}/ended; exit' TERM; while :; do head -c 1000000 /dev/zero; done"
    ran = run_bounded(["sh", "-c", script], 60.0, 1000, os.environ, grace_s=30.0)

    assert (ran.status, ran.excess) == (None, "sent too much")
    assert (tmp_path / "ended").exists()

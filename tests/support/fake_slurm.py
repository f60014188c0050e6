"""Programs that answer as those of Slurm do."""

import os
from pathlib import Path


def install(folder: Path, **scripts: str) -> dict[str, str]:
    """Write a program of sh for each name; return an environment that has them on its PATH."""
    for name, script in scripts.items():
        path = folder / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)
    return os.environ | {"PATH": f"{folder}:{os.environ['PATH']}"}

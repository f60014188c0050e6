"""The benchmark's programs are scripts beside one another, and no package: so they are found."""

import sys
from pathlib import Path

sys.path.append(str(Path(__file__).parents[2] / "bench"))

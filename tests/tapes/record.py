"""Records the tapes of this folder anew, from the simulator. Old tapes are to stay readable: replace them seldom.

PYTHONPATH=tests/support python tests/tapes/record.py
"""

from pathlib import Path
from typing import Final

from recordings import simulated, taped

TAPES: Final = {"training": 150, "dying": 150}  # frames, one a second

if __name__ == "__main__":
    for name, count in TAPES.items():
        (Path(__file__).parent / f"{name}.tape").write_bytes(taped(simulated(count, name)))

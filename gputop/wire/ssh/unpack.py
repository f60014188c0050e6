"""The program that unpacks a copy of gputop on a host. It is sent as text, so it needs nothing but Python there.

It makes a virtual environment by hand, so that every Python that gputop starts there finds gputop too.
"""

import os
import shutil
import subprocess
import sys
import tarfile
import tempfile


def unpack(place: str) -> None:
    """Unpack the archive on stdin to a folder, which takes the place of the one before; without one, change nothing."""
    with tarfile.open(fileobj=sys.stdin.buffer, mode="r|gz") as archive:
        place = os.path.expanduser(place)
        os.makedirs(os.path.dirname(place), mode=0o700, exist_ok=True)
        draft = tempfile.mkdtemp(dir=os.path.dirname(place))
        try:
            lay_out(archive, draft)
            shutil.rmtree(place, ignore_errors=True)
            os.rename(draft, place)
        finally:
            shutil.rmtree(draft, ignore_errors=True)


def lay_out(archive: tarfile.TarFile, draft: str) -> None:
    """Fill the folder, and try the compiled parts."""
    packages = os.path.join(draft, "lib", f"python{sys.version_info[0]}.{sys.version_info[1]}", "site-packages")
    os.makedirs(packages)
    os.mkdir(os.path.join(draft, "bin"))
    archive.extraction_filter = getattr(tarfile, "data_filter", None)  # older ones have none
    for entry in archive:
        archive.extract(entry, packages)
    python = os.path.join(draft, "bin", "python3")
    base = os.path.realpath(getattr(sys, "_base_executable", sys.executable))
    os.symlink(base, python)
    with open(os.path.join(draft, "pyvenv.cfg"), "w", encoding="utf-8") as written:
        written.write(f"home = {os.path.dirname(base)}\ninclude-system-site-packages = false\n")
    program = os.path.join(draft, "bin", "gputop")
    with open(program, "w", encoding="utf-8") as written:
        written.write('#!/bin/sh\nexec "${0%/*}/python3" -I -m gputop "$@"\n')
    os.chmod(program, 0o700)
    subprocess.run([python, "-I", "-c", "import msgspec, psutil"], check=True)

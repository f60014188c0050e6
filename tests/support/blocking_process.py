"""A real process that blocks the readers of its memory, by a file whose reads never end: FUSE without a library."""

import ctypes
import errno
import os
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Final

import pytest

_HEADER: Final = struct.Struct("<IIQQIIII")  # length, opcode, unique, node, uid, gid, pid, padding
_ANSWER: Final = struct.Struct("<IiQ")  # length, error, unique
_ATTRIBUTES: Final = struct.Struct("<QQQQQQIIIIIIIIII")
_BUFFER: Final = 1 << 20
_SIZE: Final = 65_536
_KEEP_CACHE: Final = 2  # or a second process that opens the file waits for the page
_QUIET: Final = {2, 15, 36, 42}  # FORGET, INTERRUPT, BATCH_FORGET want no answer; READ gets none
_FORCE_DETACH: Final = 3  # the first ends the connection: waiting readers get an error
_ENOSYS: Final = 38
_PATIENCE_S: Final = 30.0
_LIBC: Final = ctypes.CDLL(None, use_errno=True)


_CHILD: Final = """
import ctypes, mmap, os, sys, threading
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
file = os.open(sys.argv[1], os.O_RDONLY)
page = libc.mmap(None, 4096, mmap.PROT_READ, mmap.MAP_PRIVATE, file, 0)
memory = os.open("/proc/self/mem", os.O_RDONLY)
reader = threading.Thread(target=os.pread, args=(memory, 1, page), daemon=True)
reader.start()
while open(f"/proc/self/task/{reader.native_id}/stat").read().rpartition(")")[2].split()[0] != "D":
    pass
libc.mmap(None, 4096, 0, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS, -1, 0)
"""


@contextmanager
def blocking_or_skip(folder: Path) -> Iterator[int]:
    """Start such a process, as `blocking_process` does; skip the test where that is not possible."""
    with ExitStack() as stack:
        try:
            pid = stack.enter_context(blocking_process(folder))
        except OSError as error:
            pytest.skip(f"needs FUSE, and root to mount: {error}")
        yield pid


@contextmanager
def blocking_process(folder: Path) -> Iterator[int]:
    """Start a process that blocks the readers of its memory until the block ends; yield its pid.

    One of its threads reads a page of a hung file and keeps the lock of the memory map meanwhile; another one waits to
    change the map, and all later readers wait behind it. The process needs no rights for that, but the mount in
    ``folder`` does: raises OSError without them.
    """
    with _hung_file(folder) as file:
        child = subprocess.Popen([sys.executable, "-c", _CHILD, str(file)], stdin=subprocess.PIPE)
        try:
            end = time.monotonic() + _PATIENCE_S
            while _states(child.pid).count("D") < 2:
                if time.monotonic() > end or child.poll() is not None:
                    raise OSError(errno.ETIMEDOUT, "the process does not block its readers")
                time.sleep(0.01)
            yield child.pid
        finally:
            child.kill()
            _unmount(folder)
            child.communicate(timeout=_PATIENCE_S)


@contextmanager
def _hung_file(folder: Path) -> Iterator[Path]:
    """Mount a file system in a folder; yield its one file, of which no byte arrives."""
    descriptor = os.open("/dev/fuse", os.O_RDWR | os.O_CLOEXEC)
    try:
        options = f"fd={descriptor},rootmode=40000,user_id=0,group_id=0,allow_other"
        if _LIBC.mount(b"hung", os.fsencode(folder), b"fuse.hung", 0, options.encode()):
            raise OSError(ctypes.get_errno(), "mount")
        threading.Thread(target=_serve, args=(descriptor,), name="hung-file", daemon=True).start()
        try:
            yield folder / "file"
        finally:
            _unmount(folder)
    finally:
        os.close(descriptor)


def _unmount(folder: Path) -> None:
    _LIBC.umount2(os.fsencode(folder), _FORCE_DETACH)


def _states(pid: int) -> list[str]:
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return [(task / "stat").read_text().rpartition(")")[2].split()[0] for task in tasks]


def _serve(descriptor: int) -> None:
    while True:
        try:
            request = os.read(descriptor, _BUFFER)
        except OSError:
            return  # the file system is not mounted any more
        _, opcode, unique, node, *_ = _HEADER.unpack_from(request)
        if opcode in _QUIET:
            continue
        body = _body(opcode, node, request[_HEADER.size :])
        error = 0 if body is not None else -_ENOSYS
        with suppress(OSError):
            os.write(descriptor, _ANSWER.pack(_ANSWER.size + len(body or b""), error, unique) + (body or b""))


def _body(opcode: int, node: int, request: bytes) -> bytes | None:
    match opcode:
        case 26:  # INIT
            _, minor, readahead = struct.unpack_from("<III", request)
            return struct.pack("<IIIIHHIIHHI28x", 7, min(minor, 31), readahead, 1, 12, 9, 65536, 1, 16, 0, 0)
        case 1:  # LOOKUP
            return struct.pack("<QQQQII", 2, 0, 60, 60, 0, 0) + _attributes(2)
        case 3:  # GETATTR
            return struct.pack("<QII", 60, 0, 0) + _attributes(node)
        case 14 | 27:  # OPEN, OPENDIR
            return struct.pack("<QII", 0, _KEEP_CACHE, 0)
        case 18 | 25:  # RELEASE, FLUSH
            return b""
    return None


def _attributes(node: int) -> bytes:
    mode = 0o40755 if node == 1 else 0o100644
    return _ATTRIBUTES.pack(node, _SIZE, 8, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)

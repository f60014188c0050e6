"""Workers on a host that starts no more threads."""

import subprocess
import sys

import pytest

from gputop.machine.worker import Worker

LIMITED = """
import _thread
from gputop.machine.timed_calls import TimedCalls
from gputop.machine.worker import NoThreadError, Worker

def uses_another(_):
    _thread.stack_size(1 << 46)  # then the system cannot start a thread
    try:
        TimedCalls().make("key", print, 30.0)
    except BlockingIOError:
        print("no call")
    Worker(print).ask(0.0)

worker = Worker(uses_another)
worker.ask(0.0)
try:
    worker.take(30.0)
except NoThreadError as error:
    print(error, worker.busy_since)
"""


CROWDED = """
import os, resource
from gputop.machine.worker import Worker

resource.setrlimit(resource.RLIMIT_NOFILE, (len(os.listdir("/proc/self/fd")), 64))
worker = Worker(lambda _: [os.open("/", os.O_RDONLY) for _ in range(64)])
worker.ask(0.0)
try:
    worker.take(30.0)
except OSError as error:
    print(error.strerror, worker.busy_since)
"""


def test_a_worker_that_can_open_no_file_prints_a_traceback_or_its_caller_hears_nothing() -> None:
    done = subprocess.run([sys.executable, "-c", CROWDED], capture_output=True, check=False, text=True, timeout=60)

    assert done.stdout == "Too many open files None\n"
    assert done.stderr == ""


def test_a_worker_without_memory_prints_a_traceback_or_its_caller_hears_nothing() -> None:
    worker = Worker(lambda _: [b"x" * (1 << 60)])
    worker.ask(0.0)

    with pytest.raises(MemoryError):
        worker.take(30.0)


def test_a_worker_without_a_thread_prints_a_traceback_or_its_caller_hears_nothing() -> None:
    done = subprocess.run([sys.executable, "-c", LIMITED], capture_output=True, check=False, text=True, timeout=60)

    assert done.stdout.splitlines() == ["no call", "can't start new thread None"]
    assert done.stderr == ""

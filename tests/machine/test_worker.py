"""Workers on a host that starts no more threads."""

import subprocess
import sys

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


def test_a_worker_without_a_thread_prints_a_traceback_or_its_caller_hears_nothing() -> None:
    done = subprocess.run([sys.executable, "-c", LIMITED], capture_output=True, check=False, text=True, timeout=60)

    assert done.stdout.splitlines() == ["no call", "can't start new thread None"]
    assert done.stderr == ""

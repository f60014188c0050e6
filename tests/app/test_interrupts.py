"""Signals that interrupt an operation, in this process."""

import os
import signal

from gputop.app.interrupts import interruptible


def test_a_command_under_nohup_ends_when_its_terminal_closes() -> None:
    before = signal.signal(signal.SIGHUP, signal.SIG_IGN)
    try:
        with interruptible():
            os.kill(os.getpid(), signal.SIGHUP)
            taken = signal.getsignal(signal.SIGTERM)

        assert signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
        assert callable(taken)
    finally:
        signal.signal(signal.SIGHUP, before)

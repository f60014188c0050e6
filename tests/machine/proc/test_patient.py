"""/proc with a time limit: which errors a reader sees, and that nothing old is read."""

import pytest
from blocking_proc import BlockingProc
from fake_proc import EACCES

from gputop.machine.proc.patient import PatientProc

LONG_S = 30.0
SHORT_S = 0.1


@pytest.fixture
def proc() -> BlockingProc:
    made = BlockingProc()
    made.add(7)
    return made


def test_an_environment_that_is_forbidden_is_not_taken_for_one_that_blocks(proc: BlockingProc) -> None:
    proc.tell(7, environ=EACCES)
    patient = PatientProc(proc, LONG_S)
    patient.read("7/cmdline")

    with pytest.raises(PermissionError):
        patient.read("7/environ")


def test_an_environment_that_was_read_ahead_is_not_returned_twice(proc: BlockingProc) -> None:
    patient = PatientProc(proc, LONG_S)
    found = []
    for environ in (b"A=1\0", b"A=2\0"):
        proc.tell(7, environ=environ)
        patient.read("7/cmdline")
        found.append(patient.read("7/environ"))
    proc.tell(7, environ=b"A=3\0")
    found.append(patient.read("7/environ"))

    assert found == [b"A=1\0", b"A=2\0", b"A=3\0"]


def test_files_that_cannot_block_are_read_of_a_blocked_process(proc: BlockingProc) -> None:
    patient = PatientProc(proc, SHORT_S)
    with proc.blocked([7]):
        for path in ("7/cmdline", "7/environ", "7/maps"):
            with pytest.raises(TimeoutError):
                patient.read(path)

        assert patient.read("7/stat").startswith(b"7 (python)")
        assert proc.hanging == 1


def test_a_process_that_exited_is_not_called_blocked(proc: BlockingProc) -> None:
    patient = PatientProc(proc, SHORT_S)
    with proc.blocked([7]), pytest.raises(TimeoutError):
        patient.read("7/cmdline")
    proc.remove(7)
    patient = PatientProc(proc, LONG_S)

    with pytest.raises(FileNotFoundError):
        patient.read("7/cmdline")


def test_what_is_read_ahead_is_the_same_and_each_is_read_once(proc: BlockingProc) -> None:
    proc.add(8)
    proc.tell(7, environ=b"A=1\0")
    proc.tell(8, environ=EACCES)
    patient = PatientProc(proc, LONG_S)
    patient.read_ahead([7, 8, 9])
    reads = list(proc.reads)

    assert patient.read("7/cmdline") == b"python\0train.py\0"
    assert patient.read("7/environ") == b"A=1\0"
    assert patient.read("8/cmdline") == b"python\0train.py\0"
    with pytest.raises(PermissionError):
        patient.read("8/environ")
    with pytest.raises(FileNotFoundError):
        patient.read("9/cmdline")
    assert proc.reads == reads


def test_what_was_read_ahead_is_returned_for_the_next_owner_of_a_pid(proc: BlockingProc) -> None:
    patient = PatientProc(proc, LONG_S)
    patient.read_ahead([7])
    patient.read_ahead([])
    proc.add(7, command=b"other\0")

    assert patient.read("7/cmdline") == b"other\0"


def test_a_process_that_blocks_while_it_is_read_ahead_blocks_those_after_it(proc: BlockingProc) -> None:
    for pid in (6, 8, 9):
        proc.add(pid)
    patient = PatientProc(proc, SHORT_S)
    with proc.blocked([8]):
        patient.read_ahead([6, 7, 8, 9])
        with pytest.raises(TimeoutError):
            patient.read("8/cmdline")

        assert proc.hanging == 1
        assert [patient.read(f"{pid}/cmdline") for pid in (6, 7)] == [b"python\0train.py\0"] * 2
    patient = PatientProc(proc, LONG_S)
    patient.read_ahead([9])
    assert patient.read("9/cmdline") == b"python\0train.py\0"

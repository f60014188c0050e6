import pytest

from gputop.core.doctor.kernel_log import LogLine, hung_tasks, same_bus, xid_lines
from gputop.core.model.xid import XidKind


def xids(*texts: str) -> list[tuple[object, ...]]:
    lines = [LogLine(1.0, text) for text in texts]
    return [(x.bus_id, x.number, x.pid, x.name, x.link, x.is_fatal) for x in xid_lines(lines)]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
            ("0000:3b:00", 79, None, "", None, None),
        ),
        (
            "NVRM: Xid (PCI:0000:3B:00): 31, pid=4711, name=python3, Ch 00000008, intr 10000000. MMU Fault",
            ("0000:3b:00", 31, 4711, "python3", None, None),
        ),
        (
            "NVRM: Xid (PCI:0000:01:00 GPU-I:05): 94, pid=88, name=a b, Contained: SM (0x1)",
            ("0000:01:00", 94, 88, "a b", None, None),
        ),
        ("NVRM: Xid (0000:02:00): 43, Ch 00000010, engmask 00000101", ("0000:02:00", 43, None, "", None, None)),
        (
            "NVRM: Xid (PCI:0009:01:00): 149, NETIR_LINK_EVT  Nonfatal XC0 i0 Link 00 (0x004505c6 0x00000000)",
            ("0009:01:00", 149, None, "", 0, False),
        ),
        (
            "NVRM: Xid (PCI:0018:01:00): 145, pid=7, name=x, RLW_SRC_TRACK Fatal XC0 i0 Link 11 (0x8 0x0)",
            ("0018:01:00", 145, 7, "x", 11, True),
        ),
        (
            "NVRM: GPU at PCI:0000:5d:00: GPU-1a2b has fallen off the bus and is not responding to commands.",
            ("0000:5d:00", 79, None, "", None, None),
        ),
        ("NVRM: GPU 0000:18:00.0: GPU has fallen off the bus.", ("0000:18:00", 79, None, "", None, None)),
    ],
)
def test_an_xid_of_the_log_is_read(text: str, expected: tuple[object, ...]) -> None:
    assert xids(text) == [expected]


def test_a_board_that_falls_off_the_bus_does_so_once_whatever_the_kernel_says_of_it() -> None:
    texts = (
        "NVRM: Xid (PCI:0000:3b:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.",
        "NVRM: GPU 0000:3b:00.0: GPU has fallen off the bus.",
        "NVRM: GPU 0000:5d:00.0: GPU has fallen off the bus.",
    )
    lines = [LogLine(time_s, text) for time_s in (100.0, 4000.0) for text in texts]

    assert [(x.bus_id, x.time_s) for x in xid_lines(lines)] == [
        ("0000:3b:00", 100.0),
        ("0000:5d:00", 100.0),
        ("0000:3b:00", 4000.0),
        ("0000:5d:00", 4000.0),
    ]


@pytest.mark.parametrize(
    "text",
    [
        "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  570.124.06",
        "NVRM: Xid (PCI:0000:3b:00): abc, pid=1",
        "nvme: Xid (PCI:0000:3b:00): 79, pid=1",
        "NVRM: Xid (PCI:0000:3b:00) 79, pid=1",
        "usb 1-1: device has fallen off the bus",
        "",
    ],
)
def test_near_misses_are_no_xids(text: str) -> None:
    assert xids(text) == []


@pytest.mark.parametrize(
    "text", ["0000:3b:00", "00000000:3B:00.0", "3b:00", "0000:3b:00.0", " 0000:3B:00.0\n", "0:3b:0"]
)
def test_a_pci_address_has_one_spelling(text: str) -> None:
    assert same_bus(text) == "0000:3b:00"


@pytest.mark.parametrize("text", ["", "nonsense", "a:b:c:d", ":::"])
def test_what_is_no_address_stays_as_it_is(text: str) -> None:
    assert same_bus(text) == text


def test_a_link_error_that_is_not_fatal_is_only_watched() -> None:
    def kind(word: str) -> XidKind:
        (line,) = xid_lines([LogLine(1.0, f"NVRM: Xid (PCI:0000:01:00): 149, NETIR {word} XC0 i0 Link 3 (0x1)")])
        return line.kind

    assert kind("Fatal") is XidKind.RESET
    assert kind("Nonfatal") is XidKind.WATCH


def test_a_hung_task_is_read_whatever_its_name() -> None:
    (task,) = hung_tasks([LogLine(None, "INFO: task kworker/u4:1:4242 blocked for more than 122 seconds.")])

    assert (task.name, task.pid, task.seconds) == ("kworker/u4:1", 4242, 122)

"""The host, from the texts of /proc."""

import pytest
from fake_proc import EACCES, ENOENT, FakeProc

from gputop.core.model.metric import Missing
from gputop.core.model.sample import Host, Pressure
from gputop.machine.proc.host import HostReader
from gputop.machine.proc.procfs import RealProc

KIB = 1024
PSI = b"some avg10=%.2f avg60=9.00 avg300=8.00 total=123\nfull avg10=7.00 avg60=6.00 avg300=5.00 total=12\n"


def cpu(*cores: tuple[int, int, int]) -> bytes:
    """Return /proc/stat of cores with so many ticks of user, idle and iowait; half of user's are a guest's."""
    lines = [(b"cpu ", [sum(column) for column in zip(*cores, strict=True)])]
    lines += [(b"cpu%d" % n, list(core)) for n, core in enumerate(cores)]
    text = b"".join(b"%s %d 0 0 %d %d 0 0 0 %d 0\n" % (name, *ticks, ticks[0] // 2) for name, ticks in lines)
    return text + b"intr 123456 0 9\nctxt 5\nbtime 1700000000\nsoftirq 9 9 9\n"


def proc(**files: bytes | OSError) -> FakeProc:
    usual: dict[str, bytes | OSError] = {
        "stat": cpu((100, 100, 0), (100, 100, 0)),
        "uptime": b"86400.25 100.00\n",
        "loadavg": b"1.25 2.50 3.75 5/1234 99\n",
        "meminfo": b"MemTotal: 1000 kB\nMemFree: 1 kB\nMemAvailable:  400 kB\nHugePages_Total: 0\nSwapTotal: 50 kB\n"
        b"SwapFree: 20 kB\n",
        "pressure/cpu": PSI % 1.25,
        "pressure/memory": PSI % 2.5,
        "pressure/io": PSI % 3.75,
    }
    return FakeProc(usual | {name.replace("pressure_", "pressure/"): content for name, content in files.items()})


def read(**files: bytes | OSError) -> Host:
    return HostReader(proc(**files), "node7").read(1.0)


def between(before: bytes, after: bytes, seconds: float = 1.0) -> Host:
    held = proc(stat=before)
    reader = HostReader(held, "node7")
    reader.read(10.0)
    held.files["stat"] = after
    return reader.read(10.0 + seconds)


def test_every_value_is_in_its_place() -> None:
    host = read()

    assert host.name == "node7"
    assert host.uptime_s == 86400.25
    assert host.load == (1.25, 2.5, 3.75)
    assert (host.memory_total_bytes, host.memory_used_bytes) == (1000 * KIB, 600 * KIB)
    assert (host.swap_total_bytes, host.swap_used_bytes) == (50 * KIB, 30 * KIB)
    assert host.pressure == Pressure(cpu_percent=1.25, memory_percent=2.5, io_percent=3.75)


def test_a_container_is_not_the_initial_pid_namespace() -> None:
    held = proc()
    inside = HostReader(held, "node7")
    held.links["self/ns/pid"] = "pid:[4026532999]"

    assert read().is_initial_pid_namespace is True
    assert inside.read(1.0).is_initial_pid_namespace is False


def test_where_the_namespace_cannot_be_read_nothing_is_said() -> None:
    held = proc()
    held.links["self/ns/pid"] = EACCES
    host = HostReader(held, "node7").read(1.0)

    assert host.is_initial_pid_namespace is None
    assert host.missing["is_initial_pid_namespace"] is Missing.FORBIDDEN


def test_the_first_reading_has_no_cpu_percentage() -> None:
    host = read()

    assert (host.cpu_percent, host.cores_percent) == (None, ())
    assert host.missing == {"cpu_percent": Missing.NOT_YET, "cores_percent": Missing.NOT_YET}


def test_cpu_is_the_share_that_was_not_idle_since_the_reading_before() -> None:
    host = between(cpu((100, 100, 0), (100, 100, 0)), cpu((175, 125, 0), (100, 150, 50)))

    assert host.cores_percent == (75.0, 0.0)
    assert host.cpu_percent == 37.5
    assert host.missing == {}


def test_waiting_for_a_disk_is_not_work_and_may_run_backwards() -> None:
    assert between(cpu((100, 100, 50)), cpu((200, 100, 40))).cpu_percent == 100.0


def test_a_core_that_counted_nothing_did_nothing() -> None:
    assert between(cpu((100, 100, 0), (7, 7, 0)), cpu((150, 150, 0), (7, 7, 0))).cores_percent == (50.0, 0.0)


def test_a_moment_later_the_percentage_is_still_the_same() -> None:
    held = proc()
    reader = HostReader(held, "node7")
    reader.read(1.0)
    held.files["stat"] = cpu((150, 150, 0), (200, 100, 0))
    reader.read(2.0)
    held.files["stat"] = cpu((150, 151, 0), (200, 101, 0))

    assert reader.read(2.01).cores_percent == (50.0, 100.0)


def test_a_core_that_was_switched_off_leaves_the_others_without_a_value_once() -> None:
    host = between(cpu((100, 100, 0), (100, 100, 0)), cpu((150, 150, 0)))

    assert host.cores_percent == ()
    assert host.missing == {"cores_percent": Missing.NOT_YET}


@pytest.mark.parametrize(
    ("path", "keys"),
    [
        ("stat", {"cpu_percent", "cores_percent"}),
        ("uptime", {"uptime_s"}),
        ("loadavg", {"load"}),
        ("meminfo", {"memory_total_bytes", "memory_used_bytes", "swap_total_bytes", "swap_used_bytes"}),
        ("pressure_cpu", {"pressure.cpu_percent"}),
        ("pressure_memory", {"pressure.memory_percent"}),
        ("pressure_io", {"pressure.io_percent"}),
    ],
)
@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (ENOENT, Missing.UNSUPPORTED),
        (OSError(95, "Operation not supported"), Missing.UNSUPPORTED),  # psi=0
        (EACCES, Missing.FORBIDDEN),
    ],
)
def test_a_file_that_cannot_be_read_leaves_its_values_out_with_the_reason(
    path: str, keys: set[str], content: OSError, reason: Missing
) -> None:
    host = read(**{path: content})

    assert {key for key, why in host.missing.items() if why is reason} == keys


@pytest.mark.parametrize("path", ["stat", "uptime", "loadavg", "meminfo", "pressure_cpu"])
@pytest.mark.parametrize("content", [b"", b"\n", b"\xff\xfe", b"some", b"cpu  x y\n", b"1.0", b"MemTotal: x kB\n"])
def test_garbled_text_is_never_a_number(path: str, content: bytes) -> None:
    good, bad = read(), read(**{path: content})

    assert set(bad.missing) > set(good.missing) - {"cpu_percent", "cores_percent"}
    assert bad.cpu_percent is None


def test_memory_used_needs_memavailable() -> None:
    host = read(meminfo=b"MemTotal: 1000 kB\nMemFree: 900 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n")

    assert (host.memory_total_bytes, host.memory_used_bytes) == (1000 * KIB, None)
    assert host.missing["memory_used_bytes"] is Missing.UNSUPPORTED
    assert (host.swap_total_bytes, host.swap_used_bytes) == (0, 0)


def test_a_hostile_host_name_is_cleaned() -> None:
    assert HostReader(proc(), "\x1b]0;x\x07").read(1.0).name == "␛]0;x␇"


def test_this_machine_can_be_read() -> None:
    host = HostReader(RealProc(), "here").read(1.0)

    assert host.memory_total_bytes
    assert host.memory_used_bytes
    assert 0 < host.memory_used_bytes < host.memory_total_bytes
    assert host.uptime_s
    assert host.load is not None

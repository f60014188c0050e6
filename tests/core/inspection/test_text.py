"""An inspection in words."""

from msgspec.structs import replace

from gputop.core.inspection.inspection import (
    Inspection,
    Limit,
    Mapping,
    MemoryParts,
    MemoryShares,
    OpenFile,
    Socket,
    Thread,
    Transfers,
    Variable,
)
from gputop.core.inspection.text import Section, lines, sections
from gputop.core.model.metric import Missing
from gputop.core.model.owner import Owner, Pod
from gputop.core.secrets.shapes import MASK

FOUND = Inspection(
    id="q", pid=7, start_ticks=70, time_s=1000.0, name="python", state="S", user="ann", command=("python", "a b.py"),
    threads=(Thread(7, "python", "S", 90.0), Thread(8, "spinner", "R", 10.0)), thread_count=2,
    environment=(Variable("HF_TOKEN", "hf_abc", is_secret=True), Variable("PATH", "/bin")),
    devices=(OpenFile(5, "/dev/nvidia0"), OpenFile(6, "/dev/nvidia0"), OpenFile(4, "/dev/nvidiactl")), open_files=9,
    limits=(Limit("open files", 1024, None), Limit("locked memory", 8 << 20, 8 << 20)),
    memory=MemoryParts(
        resident_bytes=3 << 30, anonymous_bytes=2 << 30, file_bytes=1 << 30, shared_bytes=0, swapped_bytes=0
    ),
    mappings=(Mapping("/lib/libcuda.so", 64 << 20),), voluntary_switches=1234567, involuntary_switches=8,
    sockets=(
        Socket(protocol="tcp", local="[::]:80", remote="", state="listen"),
        Socket(protocol="tcp", local="10.0.0.1:99", remote="10.0.0.2:80", state="established"),
    ),
    shares=MemoryShares(uss_bytes=2 << 30, pss_bytes=3 << 30, swap_bytes=0),
    transfers=Transfers(read_bytes=1 << 30, written_bytes=0, storage_read_bytes=1 << 20, storage_written_bytes=0),
)  # fmt: skip


def section(key: str, found: Inspection = FOUND, before: Inspection | None = None, **options: object) -> Section:
    held = sections(found, before, **options)  # type: ignore[arg-type] # what the test names
    return next(each for each in held if each.key == key)


def texts(of: Section) -> list[str]:
    return [f"{row.label} {row.text}".strip() for row in of.rows]


def test_a_command_line_is_written_as_a_shell_takes_it() -> None:
    assert texts(section("command")) == ["python 'a b.py'"]


def test_secrets_are_masked_also_where_they_are_known() -> None:
    masked = section("environment", reveal=False)

    assert texts(masked) == [f"HF_TOKEN={MASK}", "PATH=/bin"]
    assert "1 secret masked" in masked.note
    assert texts(section("environment")) == ["HF_TOKEN=hf_abc", "PATH=/bin"]


def test_a_known_secret_of_a_command_line_is_masked_again() -> None:
    found = replace(FOUND, command=("serve", "--api-key", "hunter2"))
    masked = section("command", found, reveal=False)

    assert texts(masked) == [f"serve --api-key '{MASK}'"]
    assert masked.note == "secrets masked"
    assert texts(section("command", found)) == ["serve --api-key hunter2"]


def test_device_files_are_told_once_each_with_their_descriptors() -> None:
    assert texts(section("devices")) == ["/dev/nvidia0  descriptors 5, 6", "/dev/nvidiactl  descriptor 4"]


def test_limits_are_in_their_unit() -> None:
    assert texts(section("limits")) == ["open files 1024, can be raised to unlimited", "locked memory 8.0MiB"]


def test_sockets_are_shown_by_address() -> None:
    assert texts(section("sockets")) == ["tcp [::]:80  listen", "tcp 10.0.0.1:99 → 10.0.0.2:80  established"]


def test_sockets_of_another_network_and_forbidden_ones_have_a_reason() -> None:
    other = Inspection(id="q", pid=7, missing={"sockets": Missing.HIDDEN, "shares": Missing.FORBIDDEN})
    forbidden = Inspection(id="q", pid=7, missing={"sockets": Missing.FORBIDDEN})

    assert texts(section("sockets", other)) == ["not visible from here: the process has another network namespace"]
    assert texts(section("sockets", forbidden)) == [Missing.FORBIDDEN.text]
    assert f"own {Missing.FORBIDDEN.text}" in texts(section("memory", other))


def test_memory_switches_and_transfers_are_told() -> None:
    assert texts(section("memory"))[0] == "resident 3.0GiB: 2.0GiB anonymous, 1.0GiB file, 0B shared, 0B swapped out"
    assert texts(section("memory"))[1] == "own 2.0GiB (USS), 3.0GiB with its share of shared pages (PSS), 0B in swap"
    assert texts(section("activity")) == [
        "switches 1,234,567 voluntary, 8 involuntary",
        "read 1.0GiB, 1.0MiB from storage",
        "written 0B, 0B to storage",
    ]


def test_with_an_inspection_before_the_thread_that_works_now_comes_first() -> None:
    before = Inspection(
        id="p", pid=7, time_s=998.0, threads=(Thread(7, "python", "S", 89.98), Thread(8, "spinner", "R", 8.0))
    )

    assert [row.label for row in section("threads").rows] == ["7", "8"]
    assert [row.label for row in section("threads", before=before).rows] == ["8", "7"]
    assert "100%" in section("threads", before=before).rows[0].text


def test_threads_that_are_left_out_are_counted() -> None:
    assert texts(section("threads", most_threads=1))[-1] == "… and 1 more"


def test_a_part_that_may_not_be_read_says_why() -> None:
    parts = ("environment", "files", "transfers", "mappings", "directory", "executable")
    other = Inspection(id="q", pid=7, missing=dict.fromkeys(parts, Missing.FORBIDDEN))

    for key in ("environment", "files", "devices", "activity", "memory", "place"):
        assert any(Missing.FORBIDDEN.text in text for text in texts(section(key, other)))


def test_what_a_zombie_lacks_is_not_blamed_on_a_gpu() -> None:
    zombie = Inspection(id="q", pid=7, missing={"command": Missing.UNSUPPORTED, "memory": Missing.UNSUPPORTED})

    assert texts(section("command", zombie)) == ["none"]
    assert "GPU" not in texts(section("memory", zombie))[0]


def test_the_lines_for_a_terminal_name_process_user_and_state() -> None:
    told = list(lines(FOUND))

    assert told[0] == "7 python · ann · S sleeping"
    assert "Environment (as it was when the program started)" in told


def test_the_owner_is_told_with_what_may_not_be_known() -> None:
    missing = {"environment": Missing.FORBIDDEN, "session": Missing.FORBIDDEN, "pod": Missing.FORBIDDEN}
    owner = Owner(pod=Pod(uid="1", name="train-0"), unit="kubelet.service", framework="vLLM", missing=missing)
    told = list(lines(replace(FOUND, owner=owner)))
    start = told.index("Belongs to")

    assert [line.split(maxsplit=1) for line in told[start + 1 : start + 4]] == [
        ["pod", "train-0 (unverified)"], ["unit", "kubelet.service"], ["kind", "vLLM"],
    ]  # fmt: skip
    assert told[start + 4] == f"  session, environment: {Missing.FORBIDDEN.text}"
    assert list(lines(FOUND))[start + 1] == "  none"


def test_a_kernel_thread_without_an_environment_is_blamed_on_a_gpu() -> None:
    owner = Owner(missing={"environment": Missing.UNSUPPORTED, "session": Missing.UNSUPPORTED})
    told = list(lines(replace(FOUND, owner=owner)))

    assert told[told.index("Belongs to") + 1] == "  none"


def test_of_many_cgroups_those_that_say_nothing_are_left_out() -> None:
    hybrid = Inspection(id="q", pid=7, cgroup=("2:cpu:/", "1:memory:/job_1", "0::/"))
    bare = Inspection(id="q", pid=7, cgroup=("2:cpu:/", "0::/"))

    assert "cgroup 1:memory:/job_1" in texts(section("place", hybrid))
    assert len(section("place", hybrid).rows) == 3
    assert "cgroup 2:cpu:/" in texts(section("place", bare))


def test_open_files_without_access_are_one_line_and_device_files_are_unknown_not_absent() -> None:
    hidden = Inspection(id="q", pid=7, open_files=292, missing={"files": Missing.FORBIDDEN})

    assert texts(section("files", hidden)) == ["292 open, names need CAP_SYS_PTRACE"]
    assert texts(section("devices", hidden)) == ["unknown: file names need CAP_SYS_PTRACE"]

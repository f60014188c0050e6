"""Output files at a path of the user's choice."""

import os
from pathlib import Path

import pytest
from other_users import give, link_of_other, mode, needs_root

from gputop.machine.files.draft import new_draft
from gputop.machine.files.output import create_output, write_output


@needs_root
def test_a_recording_of_root_does_not_go_into_the_file_of_another_user(tmp_path: Path) -> None:
    theirs = give(tmp_path / "a.tape") if (tmp_path / "a.tape").write_text("old") else tmp_path
    theirs.chmod(0o666)
    before = open(theirs)  # noqa: SIM115 - closed below
    file = create_output(str(theirs), replaces=True)
    os.write(file, b"secret")
    os.close(file)
    found = theirs.stat()

    assert (found.st_uid, found.st_mode & 0o777) == (0, 0o600)
    assert theirs.read_text() == "secret"
    assert before.read() == "old"
    before.close()


@needs_root
@pytest.mark.parametrize("is_final", [True, False])
def test_the_output_of_root_does_not_follow_the_link_of_another_user(tmp_path: Path, is_final: bool) -> None:  # noqa: FBT001
    etc = tmp_path / "etc"
    etc.mkdir()
    (etc / "out").write_text("precious")
    path = link_of_other(tmp_path / "link", etc / "out" if is_final else etc) / ("" if is_final else "out")
    with pytest.raises(PermissionError, match="is a link of "):
        write_output(str(path), b"x")
    with pytest.raises(PermissionError, match="is a link of "):
        create_output(str(path), replaces=True)

    assert (etc / "out").read_text() == "precious"


@needs_root
def test_root_writes_nothing_into_the_pipe_of_another_user(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    give(tmp_path / "pipe")
    with pytest.raises(PermissionError, match="it belongs to "):
        write_output(f"{tmp_path}/pipe", b"x")


def test_a_planted_link_beside_the_output_is_not_written_through(tmp_path: Path) -> None:
    """The name of the temporary file was FILE.PID.part."""
    precious = tmp_path / "precious"
    precious.write_text("precious")
    for name in (f"o.json.{os.getpid()}.part", f"o.json.{os.getpid()}.new"):
        (tmp_path / name).symlink_to(precious)
    write_output(f"{tmp_path}/o.json", b"x")

    assert precious.read_text() == "precious"
    assert (tmp_path / "o.json").read_bytes() == b"x"


def test_the_name_of_a_temporary_file_cannot_be_guessed(tmp_path: Path) -> None:
    place = os.open(tmp_path, os.O_PATH)
    drafts = [new_draft(place, "out", 0o600) for _ in range(2)]
    for file in (place, *(file for file, _ in drafts)):
        os.close(file)

    assert len({name for _, name in drafts}) == 2
    assert {mode(path) for path in tmp_path.iterdir()} == {0o600}


def test_an_own_link_stays_one(tmp_path: Path) -> None:
    (tmp_path / "latest.json").symlink_to("results.json")
    write_output(f"{tmp_path}/latest.json", b"x")

    assert (tmp_path / "latest.json").is_symlink()
    assert (tmp_path / "results.json").read_bytes() == b"x"


def test_the_umask_decides_who_can_read_a_report_and_a_recording_is_private(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        write_output(f"{tmp_path}/report", b"x")
        os.close(create_output(f"{tmp_path}/tape"))
    finally:
        os.umask(before)

    assert (mode(tmp_path / "report"), mode(tmp_path / "tape")) == (0o644, 0o600)


def test_an_existing_file_is_not_replaced_unless_wanted(tmp_path: Path) -> None:
    (tmp_path / "tape").write_text("precious")
    with pytest.raises(FileExistsError):
        create_output(f"{tmp_path}/tape")

    assert (tmp_path / "tape").read_text() == "precious"


def test_a_device_and_an_open_descriptor_are_written_as_they_are(tmp_path: Path) -> None:
    near, far = os.pipe()
    write_output(f"/dev/fd/{far}", b"x")
    write_output("/dev/null", b"x")
    os.close(create_output("/dev/null", replaces=True))
    os.close(far)
    with open(near, "rb") as pipe:
        came = pipe.read()

    assert came == b"x"
    assert os.listdir(tmp_path) == []

"""Files that gputop keeps for itself."""

import os
from pathlib import Path

import pytest
from other_users import directory_of_other, give, link_of_other, mode, needs_root

from gputop.machine.files.private import append_at, change_file, create_file, open_directory, read_file, replace_file


def test_no_directory_that_gputop_did_not_make_loses_rights(tmp_path: Path) -> None:
    """An installation of gputop in /opt/gputop became unusable for all users."""
    place = tmp_path / "gputop"
    place.mkdir()
    place.chmod(0o755)
    os.close(open_directory(str(place)))
    replace_file(f"{place}/plugins.json", b"[]")

    assert mode(place) == 0o755


def test_what_is_missing_is_created_for_this_user_alone(tmp_path: Path) -> None:
    replace_file(f"{tmp_path}/a/b/file", b"x")

    assert [mode(tmp_path / path) for path in ("a", "a/b", "a/b/file")] == [0o700, 0o700, 0o600]


@needs_root
@pytest.mark.parametrize("write", [replace_file, create_file, lambda path, _: change_file(path, lambda old: old)])
def test_root_does_not_write_through_a_link_of_another_user(tmp_path: Path, write: object) -> None:
    (tmp_path / "etc").mkdir()
    link_of_other(tmp_path / "gputop", tmp_path / "etc")
    link_of_other(tmp_path / "file", tmp_path / "etc" / "file")
    for path in ("gputop/file", "file"):
        with pytest.raises(PermissionError, match=r"is a link of .*\. Name its target instead"):
            write(f"{tmp_path}/{path}", b"x")  # type: ignore[operator] # one of three functions

    assert os.listdir(tmp_path / "etc") == []


@needs_root
def test_root_does_not_write_in_a_directory_that_another_user_controls(tmp_path: Path) -> None:
    home = directory_of_other(tmp_path / "home")
    (home / "gputop").mkdir()
    with pytest.raises(PermissionError, match="As root, gputop uses only directories that root alone can write to"):
        replace_file(f"{home}/gputop/file", b"x")

    assert os.listdir(home / "gputop") == []


@needs_root
def test_root_does_not_change_a_file_of_another_user(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("precious")
    give(tmp_path / "config.toml")
    with pytest.raises(PermissionError, match="it belongs to "):
        change_file(f"{tmp_path}/config.toml", lambda _: b"")

    assert (tmp_path / "config.toml").read_text() == "precious"


def test_a_file_in_the_way_of_a_new_one_is_kept(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("precious")
    with pytest.raises(FileExistsError):
        create_file(f"{tmp_path}/file", b"x")

    assert (tmp_path / "file").read_text() == "precious"


@pytest.mark.parametrize("make", [os.mkfifo, lambda path: os.symlink("/dev/zero", path), os.mkdir])
def test_a_configuration_that_is_no_regular_file_is_refused_at_once(tmp_path: Path, make: object) -> None:
    make(f"{tmp_path}/config.toml")  # type: ignore[operator] # one of three functions
    with pytest.raises(OSError, match=r"not a regular file|Is a directory|belongs to root"):
        change_file(f"{tmp_path}/config.toml", lambda old: old)


def test_a_change_keeps_the_rights_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    (tmp_path / "file").chmod(0o664)
    before = os.umask(0o077)
    try:
        change_file(f"{tmp_path}/file", lambda old: old + b" and new")
    finally:
        os.umask(before)

    assert mode(tmp_path / "file") == 0o664
    assert (tmp_path / "file").read_text() == "old and new"


def test_a_failed_change_leaves_the_file_and_nothing_beside_it(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("precious")
    (tmp_path / "full").mkdir()
    with pytest.raises(ZeroDivisionError):
        change_file(f"{tmp_path}/file", lambda _: bytes(1 // 0))
    with pytest.raises(IsADirectoryError):
        replace_file(f"{tmp_path}/full", b"x")

    assert sorted(os.listdir(tmp_path)) == ["file", "full"]
    assert (tmp_path / "file").read_text() == "precious"


def test_two_links_in_a_circle_are_an_error_and_no_hang(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="symbolic links"):
        replace_file(f"{tmp_path}/a", b"x")


def test_no_descriptor_stays_open(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path)
    before = os.listdir("/proc/self/fd")
    replace_file(f"{tmp_path}/link/file", b"x")
    place = open_directory(str(tmp_path / "link"))
    os.close(append_at(place, "log"))
    os.close(place)
    with pytest.raises(NotADirectoryError):
        replace_file(f"{tmp_path}/file/below", b"x")

    assert len(os.listdir("/proc/self/fd")) == len(before)


@needs_root
def test_root_reads_no_configuration_through_a_link_of_another_user(tmp_path: Path) -> None:
    (tmp_path / "config.toml").write_text("sort = 'cpu'")
    link_of_other(tmp_path / "link", tmp_path)
    with pytest.raises(PermissionError, match="is a link of "):
        read_file(f"{tmp_path}/link/config.toml")

    assert read_file(f"{tmp_path}/config.toml") == b"sort = 'cpu'"

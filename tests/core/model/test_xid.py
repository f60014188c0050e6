import pytest

from gputop.core.model.xid import CATALOGUE, XIDS, Blame, XidKind, explained


def test_every_number_is_its_own_row() -> None:
    assert all(number == row.number for number, row in XIDS.items())


@pytest.mark.parametrize("row", XIDS.values(), ids=str)
def test_a_row_is_whole_and_its_texts_are_sentences(row: object) -> None:
    xid = explained(getattr(row, "number"))  # noqa: B009

    assert xid.name
    assert xid.meaning.endswith(".")
    assert xid.action.endswith(".")


@pytest.mark.parametrize(
    ("number", "kind", "blame"),
    [
        (13, XidKind.APP, Blame.APPLICATION),
        (31, XidKind.APP, Blame.APPLICATION),
        (43, XidKind.APP, Blame.APPLICATION),
        (45, XidKind.IGNORE, Blame.ANOTHER),
        (48, XidKind.RESET, Blame.MEMORY),
        (63, XidKind.IGNORE, Blame.MEMORY),
        (64, XidKind.HARDWARE, Blame.MEMORY),
        (74, XidKind.RESET, Blame.LINK),
        (79, XidKind.NODE, Blame.MACHINE),
        (94, XidKind.APP, Blame.MEMORY),
        (95, XidKind.RESET, Blame.MEMORY),
        (119, XidKind.RESET, Blame.DRIVER),
        (135, XidKind.APP, Blame.APPLICATION),
        (150, XidKind.RESET, Blame.LINK),
    ],
)
def test_what_a_number_asks_for_and_who_is_to_blame(number: int, kind: XidKind, blame: Blame) -> None:
    assert (explained(number).kind, explained(number).blame) == (kind, blame)


def test_a_number_that_nobody_knows_is_watched_and_points_to_the_catalogue() -> None:
    xid = explained(9999)

    assert xid.number == 9999
    assert xid.kind is XidKind.WATCH
    assert CATALOGUE in xid.action


def test_what_needs_a_reset_a_reboot_or_a_screwdriver_is_grave() -> None:
    assert {kind for kind in XidKind if kind.is_grave} == {XidKind.RESET, XidKind.NODE, XidKind.HARDWARE}

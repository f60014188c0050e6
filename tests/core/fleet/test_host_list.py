"""Lists of hosts, as Slurm writes them."""

import pytest

from gputop.core.fleet.host_list import hosts_in


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("n1", ("n1",)),
        ("n1,n2 n3", ("n1", "n2", "n3")),
        ("node[001-003]", ("node001", "node002", "node003")),
        ("node[08-11,20]", ("node08", "node09", "node10", "node11", "node20")),
        ("r[1-2]n[1-2]", ("r1n1", "r1n2", "r2n1", "r2n2")),
        ("n[1-2]:9401,n1:9401", ("n1:9401", "n2:9401")),
        ("[::1]:9400", ("[::1]:9400",)),
        ("", ()),
    ],
)
def test_a_list_gives_its_hosts_in_order_and_each_once(text: str, names: tuple[str, ...]) -> None:
    assert hosts_in(text) == names


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("node[1-", "brackets"),
        ("node]1[", "brackets"),
        ("node[a-b]", "not a list of numbers"),
        ("node[9-1]", "not a range"),
        ("node[1-99999999]", "not a range"),
        ("n[0-999]m[0-999]", "more than 10,000"),
        ("n[0-9999],extra", "more than 10,000"),
        ("-oProxyCommand=x y", "not the name of a host"),
        ("n1;reboot", "not the name of a host"),
    ],
)
def test_a_list_that_is_wrong_or_endless_is_refused_with_a_reason(text: str, word: str) -> None:
    with pytest.raises(ValueError, match=word):
        hosts_in(text)

"""gputop hosts: the list of hosts that gputop reaches by ssh, and the copies that it brought to them."""

import argparse
from collections.abc import Sequence
from typing import Final

from gputop.app.errors import BadRequestError
from gputop.app.remote.host_list import add as add_hosts
from gputop.app.remote.host_list import print_list, remove
from gputop.app.remote.hosts_command import HostListRequest, clean_up, show
from gputop.cli.args.options import add_ending
from gputop.core.protocol.host_name import host_names

_WHAT: Final = {
    "list": "print the names on the list; ask no host",
    "add": "add hosts to the list; optionally say whether gputop may copy itself there",
    "remove": "remove hosts from the list; nothing changes on the hosts",
    "clean": "remove gputop's copies from these hosts; without a name, from all hosts on the list",
}
_EXAMPLES: Final = {
    "list": "gputop hosts list",
    "add": "gputop hosts add 'node[01-08]' ann@login1",
    "remove": "gputop hosts remove node03",
    "clean": "gputop hosts clean node03",
}
_ASKED: Final = "0 done, 1 some hosts could not be asked, 2 bad input, 3 no host could be asked"
_STATUS: Final = {"list": "0 done, 2 bad input", "add": "0 done, 2 bad input", "remove": "0 done, 2 bad input"}
_MAY_COPY: Final = {"ask": None, "yes": True, "no": False}


def add(parser: argparse.ArgumentParser) -> None:
    """Add the actions."""
    _add_json(parser, default=False)
    actions = parser.add_subparsers(metavar="WHAT", dest="what")
    for name, about in _WHAT.items():
        action = actions.add_parser(name, help=about, description=f"{about[0].upper()}{about[1:]}.")
        if name != "list":
            action.add_argument(
                "hosts", nargs="*" if name == "clean" else "+", metavar="HOST", help="node1, ann@node1, node[01-08]"
            )
        if name == "add":
            action.add_argument(
                "--copy", choices=tuple(_MAY_COPY), default="ask",
                help="whether gputop may copy itself to these hosts if they lack it: ask (default; forgets an earlier"
                " answer), yes or no",
            )  # fmt: skip
        if name == "clean":
            _add_json(action, default=argparse.SUPPRESS)  # it would hide --json before the action
        add_ending(action, _EXAMPLES[name], status=_STATUS.get(name, _ASKED))
    add_ending(parser, "gputop hosts", *_EXAMPLES.values(), "gputop --host all", status=_ASKED)


def run(options: argparse.Namespace) -> int:
    """Run the action; without one, ask all hosts and print which gputop they have."""
    hosts = _named(getattr(options, "hosts", ()))
    match options.what:
        case "list":
            return print_list()
        case "add":
            return add_hosts(hosts, _MAY_COPY[options.copy])
        case "remove":
            return remove(hosts)
        case "clean":
            return clean_up(HostListRequest(hosts=hosts, is_json=options.is_json))
        case _:
            return show(HostListRequest(is_json=options.is_json))


def _named(words: Sequence[str]) -> tuple[str, ...]:
    try:
        return tuple(dict.fromkeys(name for word in words for name in host_names(word)))
    except ValueError as error:
        raise BadRequestError(str(error)) from None


def _add_json(parser: argparse.ArgumentParser, *, default: object) -> None:
    parser.add_argument(
        "--json", dest="is_json", action="store_true", default=default, help="one line of JSON per host"
    )

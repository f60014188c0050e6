"""Typed requests from options: an option has the name of the field that it fills."""

import argparse
from typing import Final, TypeVar

from msgspec import Struct, convert

_PARTS: Final = ("backend", "selection", "shape", "wish", "ceiling")

Request = TypeVar("Request", bound=Struct)


def request_of(options: argparse.Namespace, kind: type[Request]) -> Request:
    """Return the request that the options make. Its parts read the same options; an absent option is the default."""
    given = {name: value for name, value in vars(options).items() if value is not None}
    given |= dict.fromkeys(_PARTS, given)
    return convert(given, kind)

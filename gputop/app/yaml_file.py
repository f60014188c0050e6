"""YAML from a file of a stranger: the size of the values is known before any is made.

An alias repeats a value as often as a line names it, so 1 kB of YAML can describe gigabytes.
"""

from typing import Any, Final

import yaml

MOST_BYTES: Final = 1 << 18  # a file of mig-parted has a few KiB, and the parser takes seconds for 1 MiB
_MOST_VALUES: Final = 50_000
_ODD: Final = (ValueError, LookupError, TypeError, AttributeError, ArithmeticError)  # what PyYAML raises for !!int ''


class YamlError(Exception):
    """The text is not YAML that gputop reads; the message says why."""


def load(raw: bytes) -> object:
    """Return the values of a text. Raises YamlError."""
    try:
        loader = yaml.SafeLoader(raw)
        node = loader.get_single_node()
        if node is None:
            return None
        _check_size(node)
        value: object = loader.construct_document(node)
    except yaml.YAMLError as error:
        raise YamlError(" ".join(str(error).split())) from None
    except RecursionError:
        raise YamlError("nested too deeply") from None
    except _ODD as error:
        raise YamlError(f"invalid value: {error}") from None
    return value


def _check_size(node: Any) -> None:  # noqa: ANN401 - PyYAML has no types
    """Count the values as often as aliases repeat them."""
    waiting, count = [node], 0
    while waiting:
        count += 1
        if count > _MOST_VALUES:
            raise YamlError(f"more than {_MOST_VALUES:,} values, counting each as often as aliases repeat it")
        held = waiting.pop().value
        for each in held if isinstance(held, list) else ():
            waiting += each if isinstance(each, tuple) else [each]

"""Imports without ballast: start-up is a budget, and a snapshot is run by scripts all day.

A module is imported while some that it would import, and does not need here, are replaced by stand-ins. What is used
after all, now and then, is `Later`: imported when its first name is asked for.
"""

import gc
import sys
import typing
from collections.abc import Callable
from importlib import import_module
from types import ModuleType, SimpleNamespace
from typing import Any, Final


class Later(ModuleType):
    """A module that is imported when it is used."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - whatever the module has
        """Return a name of the real module."""
        return getattr(import_module(self.__name__), name)


def _called_later(module: str, *names: str) -> SimpleNamespace:
    """Return functions of a module that is imported when one of them is called."""

    def later(name: str) -> Callable[..., Any]:
        return lambda *given, **named: getattr(import_module(module), name)(*given, **named)  # noqa: PLW0108 - not now

    return SimpleNamespace(**{name: later(name) for name in names})


def _capwords(words: str, separator: str) -> str:
    return separator.join(word.capitalize() for word in words.split(separator))


class _Unused:
    """In place of types of values that msgspec knows how to encode, and gputop has none of.

    And of the forward reference that it makes to see whether that takes ``is_class``: the first text that is compiled
    makes the classes of Python's syntax trees, in 3 ms.
    """

    unknown = None

    def __init__(self, *_: object, **__: object) -> None: ...


_STAND_INS: Final[dict[str, dict[str, Any]]] = {
    "argparse": {
        "gettext": SimpleNamespace(  # 3 ms to look for translations of a program that has none
            gettext=lambda text: text, ngettext=lambda one, many, count: one if count == 1 else many
        ),
    },
    "msgspec": {
        "typing_extensions": None,  # 10 ms where it is installed; typing has all that is asked for
        "msgspec._json_schema": _called_later("msgspec._json_schema", "schema", "schema_components"),
        "msgspec.inspect": Later("msgspec.inspect"),  # 2 ms with the one before, for JSON Schema
        "msgspec.toml": Later("msgspec.toml"),
        "msgspec.yaml": Later("msgspec.yaml"),
        "datetime": import_module("_datetime"),  # 1 ms for the same types once more, in Python
        "decimal": SimpleNamespace(Decimal=_Unused),  # 2 ms with the next
        "uuid": SimpleNamespace(UUID=type("UUID", (), {}), SafeUUID=_Unused),
    },
    "textual.app": {
        "ssl": None,  # 5 ms and 2 MiB for asyncio, which does without: nothing here is encrypted
    },
    "pynvml": {
        "ctypes.util": SimpleNamespace(find_library=None),  # 15 ms for what is used on Windows alone
        "string": SimpleNamespace(capwords=_capwords),  # 1 ms for the one name that pynvml asks for
    },
}


def lean(name: str) -> ModuleType:
    """Import a module, leaner if it has not been imported yet. Its stand-ins are gone afterwards."""
    held = {other: sys.modules[other] for other in _STAND_INS[name] if other in sys.modules}
    sys.modules.update({other: stand_in for other, stand_in in _STAND_INS[name].items() if other not in held})
    reference = typing.ForwardRef
    if name == "msgspec":
        typing.ForwardRef = _Unused  # type: ignore[misc, assignment]
    try:
        return import_module(name)
    finally:
        typing.ForwardRef = reference  # type: ignore[misc]
        for other in _STAND_INS[name].keys() - held.keys():
            del sys.modules[other]


def collect_seldom() -> None:
    """Turn the garbage collector on again, for long runs, but seldom: frames come and go by the thousand values.

    They hold no cycles and are freed without it. At 2,000 processes it took 12 ms of 90 ms a sample to find that out.
    """
    gc.freeze()
    gc.set_threshold(10_000, 20, 20)  # a screen makes 75 objects a frame that only the collector can free
    gc.enable()

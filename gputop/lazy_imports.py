"""Lean imports of libraries: scripts run a snapshot all day, so it must not load what it does not use.

During the import of a library, stand-ins replace modules that gputop does not need from it. The stand-ins are inert:
plugins and other libraries that use a replaced module notice no difference (tests/test_lean.py).
"""

import gc
import os
import sys
import typing
from collections.abc import Callable
from importlib import import_module
from types import ModuleType, SimpleNamespace
from typing import Any, Final


class Later(ModuleType):
    """A module that is imported on its first use."""

    def __getattr__(self, name: str) -> Any:  # noqa: ANN401 - any name of any module
        """Return a name of the real module."""
        return getattr(import_module(self.__name__), name)


class _Platform(Later):
    """The module platform; `uuid` asks it for nothing but the name of the system."""

    @staticmethod
    def system() -> str:
        """Return what ``platform.system()`` returns on Linux."""
        return os.uname().sysname


def lean(name: str) -> ModuleType:
    """Import a library while stand-ins replace what it imports; remove the stand-ins afterwards."""
    stand_ins = {other: stand_in for other, stand_in in _STAND_INS[name].items() if other not in sys.modules}
    sys.modules.update(stand_ins)  # type: ignore[arg-type] # None: as if not installed
    reference = typing.ForwardRef
    if name == "msgspec" and _HAS_IS_CLASS:
        typing.ForwardRef = _accept  # type: ignore[misc, assignment]
    try:
        return import_module(name)
    finally:
        typing.ForwardRef = reference  # type: ignore[misc]
        for other in stand_ins:
            del sys.modules[other]


def _accept(*_: object, **__: object) -> None:
    """Stand in for the forward reference that msgspec makes to see whether one takes ``is_class``: saves 3 ms."""


def collect_seldom() -> None:
    """Turn the garbage collector on again for long runs, but let it run seldom.

    Frames have thousands of values but no cycles, so they are freed without it. At 2,000 processes the collector took
    12 of the 90 ms of a sample.
    """
    gc.freeze()
    gc.set_threshold(30_000, 20, 20)  # only keys and dialogs leave objects that the collector must free
    gc.enable()


def _functions(module: str, *names: str) -> SimpleNamespace:
    """Return functions of a module that is imported when one of them is called."""

    def later(name: str) -> Callable[..., Any]:
        return lambda *given, **named: getattr(import_module(module), name)(*given, **named)  # noqa: PLW0108 - not now

    return SimpleNamespace(**{name: later(name) for name in names})


def _translated(text: str) -> str:
    """Translate a text if gettext is loaded; otherwise no program has chosen translations."""
    gettext = sys.modules.get("gettext")
    return gettext.gettext(text) if gettext else text


def _translated_count(one: str, many: str, count: int) -> str:
    """Translate the singular or the plural, as `_translated` does."""
    gettext = sys.modules.get("gettext")
    if gettext:
        return str(gettext.ngettext(one, many, count))
    return one if count == 1 else many


_HAS_IS_CLASS: Final = sys.version_info >= (3, 11)
_STAND_INS: Final[dict[str, dict[str, object]]] = {
    "argparse": {
        "gettext": SimpleNamespace(gettext=_translated, ngettext=_translated_count),  # saves 2 ms
    },
    "msgspec": {
        "msgspec._json_schema": _functions("msgspec._json_schema", "schema", "schema_components"),
        "msgspec.inspect": Later("msgspec.inspect"),  # together with the previous one, for JSON Schema: 5 ms
        # 11 ms, mostly for `inspect`. msgspec needs three names, which `typing` has since Python 3.11.
        **({"typing_extensions": None} if _HAS_IS_CLASS else {}),
        "msgspec.toml": Later("msgspec.toml"),
        "msgspec.yaml": Later("msgspec.yaml"),
        "datetime": import_module("_datetime"),  # the same types; 2 ms for their copies in Python
        "decimal": import_module("_decimal"),  # likewise
        "platform": _Platform("platform"),  # 3 ms
    },
    "textual.app": {
        "platformdirs": _functions("platformdirs", "user_downloads_path"),  # for screenshots: 5 ms
        "rich.table": _functions("rich.table", "Table"),  # for a preview of themes: 3 ms
        "textual.types": Later("textual._types"),  # names for applications, from five widgets: 11 ms
    },
    "pynvml": {
        "ctypes.util": _functions("ctypes.util", "find_library"),  # 10 ms for a function that pynvml uses on Windows
    },
}

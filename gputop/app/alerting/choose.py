"""Receivers that the user chose: by the names of the configuration file, or as KIND:WHERE."""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec.structs import replace

from gputop.app.errors import BadRequestError
from gputop.app.settings.settings_file import Written, written
from gputop.core.settings.receivers import Receiver, ReceiverKind, read_receivers, receiver
from gputop.core.text.suggest import nearest
from gputop.core.text.text import clean, excerpt
from gputop.machine.files.places import config_file
from gputop.machine.files.private import read_file
from gputop.machine.files.walk import danger

ALL: Final = "all"
_WHERE: Final = {
    ReceiverKind.ALERTMANAGER: "url", ReceiverKind.WEBHOOK: "url", ReceiverKind.SLACK: "url_file",
    ReceiverKind.APPRISE: "url_file", ReceiverKind.MAIL: "to", ReceiverKind.COMMAND: "command",
}  # fmt: skip
_LISTS: Final = {"to", "command"}


def chosen(names: Sequence[str]) -> tuple[Receiver, ...]:
    """Return the receivers, all of the file for `ALL`. Raises BadRequestError for a mistake or an unreadable secret."""
    said = written(config_file())
    if said.problem:
        raise BadRequestError(f"{clean(said.file)}: {said.problem}")
    found, mistakes = read_receivers(said.values.get("receivers", {}))
    for path, message, hint in mistakes:
        raise BadRequestError(_mistake(said, path, message, hint))
    receivers = [one for name in names for one in _of(name, found)]
    if not receivers:
        raise BadRequestError(f"no receiver: add [receivers.NAME] to {clean(said.file)}. See docs/alerts.md")
    for one in receivers:
        for file in one.secret_files:
            secret(file)
        _check_tls(one)
        _require_apprise(one)
    return _named_apart(receivers)


def secret(file: str) -> str:
    """Return the first line of a file. Raises BadRequestError, without its content."""
    try:
        text = read_file(file).decode()
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is not text"
        raise BadRequestError(f"cannot read {excerpt(file)}: {why}") from None
    line = text.strip().partition("\n")[0].strip()
    if not line or not line.isprintable() or not line.isascii():
        raise BadRequestError(f"cannot use {excerpt(file)}: its first line is empty, or not plain text")
    return line


def _of(name: str, found: Mapping[str, Mapping[str, object]]) -> list[Receiver]:
    if name == ALL:
        return [receiver(key, values) for key, values in found.items()]
    if name in found:
        return [receiver(name, found[name])]
    kind, colon, where = name.partition(":")
    if kind in set(ReceiverKind) and (colon or kind == ReceiverKind.DESKTOP.value):
        return [_given(ReceiverKind(kind), where)]
    hint = nearest(name, [*found, *(each.value for each in ReceiverKind)])
    suffix = f". Did you mean {hint}?" if hint else ". The configuration file has none" if not found else ""
    raise BadRequestError(f"no such receiver: {excerpt(name)}{suffix}")


def _named_apart(receivers: Sequence[Receiver]) -> tuple[Receiver, ...]:
    """Return each receiver once; those of the command line that have the same kind get numbers."""
    apart = list({(one.name, one.url, one.url_file, one.to, one.command): one for one in receivers}.values())
    names = [one.name for one in apart]
    return tuple(
        replace(one, name=f"{one.name} {names[: at + 1].count(one.name)}") if names.count(one.name) > 1 else one
        for at, one in enumerate(apart)
    )


def _given(kind: ReceiverKind, where: str) -> Receiver:
    """Return a receiver that was written as KIND:WHERE."""
    values: dict[str, object] = {"kind": kind.value}
    if kind in _WHERE:
        key = _WHERE[kind]
        values[key] = [word for word in where.split(",") if word] if key in _LISTS else where
    read, mistakes = read_receivers({kind.value: values})
    for _, message, _ in mistakes:
        raise BadRequestError(f"{kind.value}: {message}")
    return receiver(kind.value, read[kind.value])


def _mistake(said: Written, path: str, message: str, hint: str | None) -> str:
    line = said.lines.get(path)
    place = f"line {line}: " if line else ""
    return f"{clean(said.file)}: {place}{excerpt(path)}: {message}" + (f". Did you mean {hint}?" if hint else "")


def _check_tls(one: Receiver) -> None:
    """Refuse certificates that cannot be used."""
    files = [file for file in (one.ca_file, one.cert_file) if file]
    if not files:
        return
    import ssl

    from gputop.machine.notify.http import Tls, context_of

    try:
        context_of(Tls(one.ca_file, one.cert_file))
        why = next(filter(None, map(danger, files)), "")
    except ssl.SSLError:
        why = "this is not PEM with a certificate (and its key, in cert_file)"
    except OSError as error:
        why = error.strerror or str(error)
    if why:
        raise BadRequestError(f"receiver {clean(one.name)}: cannot use {excerpt(' or '.join(files))}: {excerpt(why)}")


def _require_apprise(one: Receiver) -> None:
    if one.kind is ReceiverKind.APPRISE:
        from importlib.util import find_spec

        if find_spec("apprise") is None:
            text = f"receiver {clean(one.name)}: apprise is not installed. Run: pip install apprise"
            raise BadRequestError(text)

"""ASCII replacements of the characters that gputop draws with."""

from typing import Final

from gputop.core.text.cells import width

PLAIN: Final = {
    ord(sign): plain
    for signs, plain in (
        ("–─╌", "-"), ("━", "="), ("╸", "-"), ("│┃", "|"), ("╭╮╰╯├┤└┘┌┐┼", "+"), ("·•", "-"), ("…", "~"), ("°", " "),
        ("↑▲", "^"), ("↓▼", "v"), ("←◂", "<"), ("→▶▸", ">"), ("█▇▆▅", "#"), ("▄▃", "="), ("▂▁", "-"), ("▐▌", "|"),
        ("✕✗", "x"), ("✓", "+"), ("⏸", "="), ("×", "x"), ("●", "*"), ("÷", "/"), ("“”", '"'),
    )
    for sign in signs
}  # fmt: skip


def plain(text: str) -> str:
    """Return a text in ASCII with the same width."""
    if text.isascii():
        return text
    text = text.translate(PLAIN)
    return text if text.isascii() else "".join(sign if sign.isascii() else "?" * width(sign) for sign in text)


def replaced(error: UnicodeError) -> tuple[str, int]:
    """Replace unencodable characters by ASCII; an error handler for `codecs.register_error`."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return plain(error.object[error.start : error.end]), error.end

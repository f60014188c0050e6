"""Features of the terminal, as its terminfo entry lists them."""

_STDOUT = 1


def erases_in_colour() -> bool:
    """Return whether the terminal erases cells in the colour of the background; False if that is unknown."""
    try:
        import curses  # noqa: PLC0415 - some builds of Python lack it
    except ImportError:
        return False
    try:
        curses.setupterm(fd=_STDOUT)
    except curses.error:
        return False
    return curses.tigetflag("bce") == 1 and bool(curses.tigetstr("ech"))

"""Errors of plugins: whatever a plugin raises becomes an ordinary error with a text."""


def ordinary(error: BaseException) -> Exception:
    """Return an error that ends neither a thread nor gputop when it is raised, and whose text can be taken.

    In a thread of its own, SystemExit and KeyboardInterrupt come from the plugin alone, and so does a cancelled task.
    """
    try:
        text = str(error)
    except BaseException:  # noqa: BLE001 - the plugin's own code again
        text = "its text cannot be read"
    else:
        if isinstance(error, Exception):
            return error
    return RuntimeError(f"{type(error).__name__}: {text}").with_traceback(error.__traceback__)

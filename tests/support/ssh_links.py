"""Links to a host that sshd serves on loopback."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from queue import SimpleQueue

from ssh_host import PATIENCE_S, SshHost

from gputop.core.protocol.link import News
from gputop.core.protocol.remote import Hello
from gputop.wire.encoder import encode
from gputop.wire.ssh.client import SshClient


@contextmanager
def link(host: SshHost, *words: str, silence_s: float = PATIENCE_S) -> Iterator[tuple[SshClient, SimpleQueue[News]]]:
    """Connect, and open the link."""
    printed: list[str] = []
    client = SshClient(host.remote, words, printed.append, silence_s=silence_s)
    try:
        greeting = client.greet()
        assert isinstance(greeting, Hello), (greeting, printed)
        news: SimpleQueue[News] = SimpleQueue()
        client.open(news.put)
        yield client, news
    finally:
        client.close()
        for thread in threading.enumerate():
            if thread.name == "link":  # it may have just started another ssh, which it then ends
                thread.join(PATIENCE_S)
        client.child.wait(PATIENCE_S)


def until(news: SimpleQueue[News], kind: type) -> News:
    """Return the next news of a kind."""
    while not isinstance(found := news.get(timeout=PATIENCE_S), kind):
        pass
    return found


def greeting(**changed: object) -> str:
    """Return a line of Python that greets."""
    known = {"version": "9.9", "commands": ("beat", "send_signal", "set_interval")}
    return f"print({encode(Hello(**(known | changed))).decode()!r}, end='', flush=True)"  # type: ignore[arg-type]

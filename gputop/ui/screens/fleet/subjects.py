"""What the user points at on the fleet screen, as the subject of a history."""

from textual.message import Message

from gputop.core.fleet.groups import JOB, Group
from gputop.core.fleet.history import HOST, Subject
from gputop.core.fleet.model import Fleet, FleetHost


class SubjectChosen(Message):
    """The user wants the history of a subject. ``gpus``: indices of its GPUs, if it is a host."""

    def __init__(self, subject: Subject, gpus: tuple[str, ...] = ()) -> None:
        super().__init__()
        self.subject, self.gpus = subject, gpus


class DetailsWanted(Message):
    """The user looks at the GPUs of these instances; of none any more, if it is empty."""

    def __init__(self, instances: tuple[str, ...] = ()) -> None:
        super().__init__()
        self.instances = instances


def host_subject(host: FleetHost) -> Subject:
    """Return a host as a subject."""
    return Subject(kind=HOST, name=host.name, server=host.server, instances=host.instances)


def group_subject(group: Group, by: str, fleet: Fleet) -> Subject:
    """Return a group as a subject, of the server that knows most of its hosts."""
    servers = [member.server for member in group.members]
    return Subject(
        kind=by,
        name=group.name,
        server=max(servers, key=servers.count, default=""),
        instances=instances_of(group, fleet) if len(servers) == 1 else (),
        is_dcgm=by == JOB and group.users is None,
    )


def instances_of(group: Group, fleet: Fleet) -> tuple[str, ...]:
    """Return the instances of a group's hosts."""
    hosts = {(member.server, member.host) for member in group.members}
    return tuple(one for host in fleet.hosts if host.key in hosts for one in host.instances)

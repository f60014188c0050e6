"""Opens what MIG needs of a machine, or of a simulated box; nothing is imported before somebody asks."""

import argparse
from collections.abc import Callable

from gputop.cli.args.exits import BAD_INPUT, NO_DRIVER, fail
from gputop.core.mig.answers import MigBox
from gputop.core.protocol.command import ReadMig
from gputop.machine.mig.assembly import Partitioning, partitioning_of_this_machine
from gputop.machine.nvml.driver import NoDriverError


def opened_partitioning(options: argparse.Namespace) -> Partitioning:
    """Start the driver, or take the simulated box of this process. Raises NoDriverError and ValueError."""
    if options.demo is None:
        return partitioning_of_this_machine()
    from gputop.simulator import running
    from gputop.simulator.control import partitioning_of_box

    box = running(options.demo)
    return partitioning_of_box(box.driver, box.proc, box.users.get)


def partitioned(options: argparse.Namespace) -> Partitioning:
    """Start the driver; end the program in words where there is none."""
    try:
        return opened_partitioning(options)
    except NoDriverError as error:
        fail(NO_DRIVER, f"{error} To try it without a GPU: gputop mig status --demo")
    except ValueError as error:
        fail(BAD_INPUT, str(error))


def opened_survey(options: argparse.Namespace) -> Callable[[ReadMig], MigBox]:
    """Return what answers the question how the GPUs are split."""
    held: list[Partitioning] = []

    def read(question: ReadMig) -> MigBox:
        try:
            if not held:
                held.append(opened_partitioning(options))
        except (NoDriverError, ValueError) as error:
            return MigBox(id=question.id, problem=str(error))
        holders = held[0].holders(question.holders_of) if question.holders_of else None
        return MigBox(id=question.id, gpus=held[0].reader.all(), warnings=held[0].warnings(), holders=holders)

    return read

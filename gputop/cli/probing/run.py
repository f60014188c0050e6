"""One run of a probe, from what was asked for to the exit status."""

import os
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from typing import Final, TextIO

from msgspec import Struct
from msgspec.structs import replace

from gputop.cli.args.exits import fail, warn
from gputop.cli.args.interrupts import interruptible
from gputop.cli.probing.driver_watch import DriverWatch
from gputop.cli.probing.files import entries, read_baseline, write_baseline, write_file
from gputop.cli.probing.follower import Follower
from gputop.cli.probing.session import Ask, Session
from gputop.cli.probing.targets import Box, Target, box_of_cpus, box_of_gpus
from gputop.cli.probing.watch import Watch
from gputop.core.probing.baseline import Run, figures_of, name_of, stale
from gputop.core.probing.joint import Group, judge_together
from gputop.core.probing.judge import Known, judge
from gputop.core.probing.limits import Ceiling
from gputop.core.probing.plan import chosen, timed
from gputop.core.probing.probe import Level, ProbeTest
from gputop.core.probing.reference import Entry
from gputop.core.probing.result import DeviceResult, ProbeReport, Status, TestResult, exit_status, worst
from gputop.core.probing.slurm import station
from gputop.machine.probe.python import candidates, dropped, with_package
from gputop.machine.probe.runner import Job

_ERROR: Final = 3


def probe(ask: Ask, environment: Mapping[str, str], out: TextIO, follower: Follower | None = None) -> int:
    """Run it and print what was found. Raises ValueError for what cannot be asked. ``follower``: is told instead."""
    tests = chosen(ask.probe, ask.level, ask.tests)
    table = entries(ask.probe.reference, environment)
    if ask.cpus and ask.ceiling != Ceiling():
        raise ValueError("--max-temp and --max-power are for GPUs: of a CPU neither is read here")
    box = box_of_cpus(ask.cpus) if ask.cpus else box_of_gpus(ask.gpus, ask.demo)
    started_s = time.time()
    with ExitStack() as held:
        refused = _refusals(ask, box, held)
        targets = [target for target in box.targets if target.uuid not in {one.uuid for one in refused}]
        if follower is not None:
            follower.begin(box.targets, refused)
        found = _run(ask, tests, box, targets, environment, follower) if targets else _Found()
    busy = box.busy | found.came.keys()
    known = Known(
        entries=table, links={**box.links, **found.links}, busy=busy, past=_past(ask, targets, environment),
        wants_coverage=ask.level in (Level.STANDARD, Level.LONG) and not ask.cpus,
    )  # fmt: skip
    devices = (*judge(found.devices, ask.probe, known), *refused)
    devices = tuple(sorted(devices, key=lambda device: [t.uuid for t in box.targets].index(device.uuid)))
    together: tuple[DeviceResult, ...] = ()
    if found.joint:
        group = _group(ask, targets, table, environment)
        is_busy = any(target.uuid in busy for target in targets)
        found = replace(found, joint=judge_together(found.joint, ask.probe, replace(group, is_busy=is_busy)))
        together = (_as_one(group, found.joint),)
    kept = (*devices, *together)
    notes = (*_keep(ask, kept, box, environment), *stale(kept), *_came(found), *_dropped(environment))
    report = replace(
        _report(ask, devices, found, box, notes), started_s=started_s, duration_s=time.time() - started_s
    )  # fmt: skip
    if follower is not None:
        follower.end(report)
    else:
        _deliver(report, ask, out)
    return report.exit_status


def _group(ask: Ask, targets: Sequence[Target], table: tuple[Entry, ...], environment: Mapping[str, str]) -> Group:
    """Return what is known of the devices as of one, for the tests over all of them."""
    where = station(environment)
    uuid = name_of([(target.index, target.uuid) for target in targets], where.boxes if where is not None else 1)
    past = read_baseline(environment, uuid).figures() if ask.baseline == "compare" else {}
    return Group(
        uuid=uuid, kind=targets[0].kind, name=targets[0].name, entries=table, least_busbw=ask.least_busbw, past=past
    )


def _as_one(group: Group, tests: Sequence[TestResult]) -> DeviceResult:
    """Return tests over all devices as if they were of one."""
    status = worst(test.status for test in tests if test.status is not Status.SKIP)
    return DeviceResult(
        label="all together", uuid=group.uuid, name=group.name, kind=group.kind, status=status, tests=tuple(tests)
    )


class _Found(Struct, frozen=True, kw_only=True):
    """What a run found. ``links``: what PCIe links were under load; ``came``: who came to which device meanwhile."""

    devices: tuple[DeviceResult, ...] = ()
    joint: tuple[TestResult, ...] = ()
    links: Mapping[str, tuple[int | None, int | None]] = {}
    came: Mapping[str, tuple[str, ...]] = {}


def _refusals(ask: Ask, box: Box, held: ExitStack) -> list[DeviceResult]:
    """Return the devices that are not to be tested, and lock the others."""
    refused = []
    for target in box.targets:
        if fault := box.fault(target) or box.against(target, ask.ceiling):
            refused.append(replace(box.about(target), status=Status.ERROR, reason=fault))
            continue
        why = () if ask.is_forced else box.users(target)
        taken = "" if why else target.lock(held)
        if why or taken:
            reason = taken or "\n".join(("in use; --force tests it all the same", *why))
            refused.append(replace(box.about(target), status=Status.REFUSED, reason=reason))
    return refused


def _run(  # noqa: PLR0917 - all that is known by then
    ask: Ask,
    tests: Sequence[ProbeTest],
    box: Box,
    targets: Sequence[Target],
    environment: Mapping[str, str],
    follower: Follower | None,
) -> _Found:
    """Run the workers, and then the joint tests."""
    if box.is_simulated:
        fail(_ERROR, "a simulated GPU cannot be tested; gputop probe --device cpu tries the tests out")
    python = _python(ask, environment)
    seconds = timed(tests, ask.level, ask.time_s, len(targets) if ask.is_serial else 1)
    with _folder(environment) as folder, interruptible():
        driver = (
            DriverWatch(box.source, box.sample, targets, gives_way=not ask.is_forced, ceiling=ask.ceiling)
            if box.source and box.sample
            else None
        )
        watch = Watch(driver, seconds, sys.stderr, follower)
        session = Session(
            ask=ask, python=python, seconds=seconds, environment=environment, folder=folder, watch=watch,
            targets=targets, cpus={target.uuid: box.near(target) for target in targets},
        )  # fmt: skip
        jobs = session.single([test for test in tests if not (test.is_joint or test.sees_all)])
        made = [result for job in jobs for result in job.record.results()]
        together = session.over_all([test for test in tests if test.sees_all], made)
        together += session.joint([test for test in tests if test.is_joint], [*made, *together])
        watch.clear()
        devices = [_device(box.about(target), job) for target, job in zip(targets, jobs, strict=False)]
        if driver is None:
            return _Found(devices=tuple(devices), joint=together)
        driver.finish()
    return _Found(
        devices=tuple(map(driver.completed, devices)), joint=together, links=driver.links(), came=driver.came()
    )  # fmt: skip


def _device(device: DeviceResult, job: Job) -> DeviceResult:
    """Return what was found of a device."""
    hello = job.record.hello
    if hello is not None:
        device = replace(
            device, name=hello.name or device.name, torch=hello.torch, cuda=hello.cuda, total_bytes=hello.total
        )
    return replace(device, tests=job.record.results(), last_words=job.last_words)


def _python(ask: Ask, environment: Mapping[str, str]) -> str:
    """Return the Python that has what the worker needs, or end the program and say how to get it."""
    tried, needs = candidates(ask.python, environment), ask.probe.needs
    found = with_package(tried, needs, environment) if needs else tried[0]
    if found is None:
        fail(
            _ERROR,
            f"{needs} is in none of: {', '.join(tried)}. To get it: python3 -m venv ~/probe && ~/probe/bin/pip install "
            f"{needs}; then: gputop probe --python ~/probe/bin/python",
        )
    return found


@contextmanager
def _folder(environment: Mapping[str, str]) -> Iterator[str]:
    """Make a folder for what workers write, and take it away with all that is in it."""
    from shutil import rmtree
    from tempfile import mkdtemp

    made = mkdtemp(prefix="gputop-probe-", dir=environment.get("TMPDIR"))
    try:
        yield made
    finally:
        rmtree(made, ignore_errors=True)


def _past(ask: Ask, targets: Sequence[Target], environment: Mapping[str, str]) -> dict[str, dict[str, float]]:
    if ask.baseline != "compare":
        return {}
    return {target.uuid: read_baseline(environment, target.uuid).figures() for target in targets}


def _keep(ask: Ask, devices: Sequence[DeviceResult], box: Box, environment: Mapping[str, str]) -> Iterator[str]:
    """Save the figures, or say what is to be thought of the comparison."""
    for device in devices if ask.baseline else ():
        if device.status is Status.REFUSED or all(test.status is Status.SKIP for test in device.tests):
            continue
        run_ = Run(
            saved_s=time.time(), driver=box.driver, torch=device.torch, level=ask.level.value,
            power_limit_w=box.power_limit_w(device.uuid), figures=figures_of(device),
        )  # fmt: skip
        held = read_baseline(environment, device.uuid)
        if ask.baseline == "compare":
            yield from held.doubts(run_, device.label)
        elif device.status in (Status.PASS, Status.WARN):
            kept = held.with_run(run_)
            write_baseline(environment, kept)
            yield f"{device.label}: the runs in its baseline are now {len(kept.runs)}"
        else:
            yield f"{device.label}: no baseline is saved of a run that did not pass"


def _came(found: _Found) -> Iterator[str]:
    labels = {device.uuid: device.label for device in found.devices}
    for uuid, lines in found.came.items():
        yield f"{labels.get(uuid, uuid)}: somebody came meanwhile, so its speed is unclear: {', '.join(lines)}"


def _dropped(environment: Mapping[str, str]) -> Iterator[str]:
    names = dropped(environment)
    if names:
        yield f"workers ran without {', '.join(names)}, which would change what is measured"


def _report(
    ask: Ask, devices: tuple[DeviceResult, ...], found: _Found, box: Box, notes: tuple[str, ...]
) -> ProbeReport:
    """Put it together; how long it took is told afterwards."""
    joint = [test.status for test in found.joint]
    grave = [status for status in joint if status is not Status.SKIP] if devices else joint
    statuses = [*(device.status for device in devices), *grave]
    skips = any(t.status is Status.SKIP for d in devices for t in d.tests) or Status.SKIP in joint
    return ProbeReport(
        started_s=0.0, duration_s=0.0, host=os.uname().nodename, driver=box.driver, probe=ask.probe.key,
        level=ask.level.value, seed=ask.seed, arguments=tuple(sys.argv[1:]), status=worst(statuses), devices=devices,
        joint=found.joint, notes=notes,
        exit_status=exit_status(statuses, has_skips=skips, is_strict=ask.is_strict),
    )  # fmt: skip


def _deliver(report: ProbeReport, ask: Ask, out: TextIO) -> None:
    """Write the files, and the text unless the JSON goes where the text would."""
    from gputop.report.grid import look
    from gputop.report.probe import report as text_of
    from gputop.wire.encoder import encode

    if ask.junit:
        from gputop.report.junit import junit

        _write(ask.junit, junit(report, is_strict=ask.is_strict).encode())
    if ask.json == "-":
        sys.stdout.buffer.write(encode(report))
        return
    if ask.json:
        _write(ask.json, encode(report))
    room, style = look(out, os.environ)
    print(text_of(report, {test.key: test.question for test in ask.probe.tests}, room, style), file=out)


def _write(path: str, content: bytes) -> None:
    try:
        write_file(path, content)
    except OSError as error:
        warn(f"{path}: {error.strerror}")

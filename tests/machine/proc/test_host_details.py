"""Details of the host: rates, sensors that are slow or absent, and when psutil is imported at all."""

import threading
from collections import namedtuple
from typing import Any

from simulated import box

from gputop.core.model.metric import Missing
from gputop.core.model.sample import Fan, Temperature
from gputop.core.query.selection import Selection
from gputop.machine.proc.host_details import HostDetailsReader
from gputop.simulator.source import source_of_box

Net = namedtuple("Net", "bytes_recv bytes_sent")  # noqa: PYI024 - as psutil has them
Disk = namedtuple("Disk", "read_bytes write_bytes")  # noqa: PYI024
Sensor = namedtuple("Sensor", "label current high")  # noqa: PYI024
Fanned = namedtuple("Fanned", "label current")  # noqa: PYI024
User = namedtuple("User", "name")  # noqa: PYI024
Frequency = namedtuple("Frequency", "current")  # noqa: PYI024


class FakePsutil:
    """A machine with an interface, a bridge and a disk; ``gate``: sensors answer once it is open."""

    def __init__(self) -> None:
        self.bytes = 0
        self.gate = threading.Event()
        self.gate.set()
        self.sensor_readings = 0

    def net_io_counters(self, **_: bool) -> dict[str, Net]:
        return {"lo": Net(7, 7), "eth0": Net(self.bytes, 2 * self.bytes), "docker0": Net(9 * self.bytes, 0)}

    def disk_io_counters(self, **_: bool) -> dict[str, Disk]:
        return {"nvme0n1": Disk(3 * self.bytes, 4 * self.bytes), "dm-0": Disk(99, 99)}

    def sensors_temperatures(self) -> dict[str, list[Sensor]]:
        self.sensor_readings += 1
        self.gate.wait(60)
        return {"k10temp": [Sensor("Tctl\x1b", 61.5, 95.0)]}

    def sensors_fans(self) -> dict[str, list[Fanned]]:
        return {"ipmi": [Fanned("FAN1", 4000)]}

    def users(self) -> list[User]:
        return [User("bob"), User("ann"), User("ann")]

    def cpu_freq(self) -> Frequency:
        return Frequency(3100.0)


class BarePsutil:
    """A machine without sensors, as a container or a virtual one."""

    def net_io_counters(self, **_: bool) -> dict[str, Net]:
        return {"lo": Net(7, 7), "eth0": Net(5, 5)}

    def disk_io_counters(self, **_: bool) -> dict[str, Disk]:
        raise RuntimeError("no /proc/diskstats")

    def sensors_temperatures(self) -> dict[str, list[Sensor]]:
        return {}

    def users(self) -> list[User]:
        return []

    def cpu_freq(self) -> None:
        return None


def reader(psutil: Any, patience_s: float = 60.0) -> HostDetailsReader:
    return HostDetailsReader(
        patience_s=patience_s, load=lambda: psutil, is_physical=lambda _, name: name in {"eth0", "nvme0n1"}
    )


def test_rates_are_of_physical_devices_and_absent_before_the_second_reading() -> None:
    fake = FakePsutil()
    made = reader(fake)
    first = made.read(1.0)
    fake.bytes = 1000
    second = made.read(3.0)

    assert first.network_received_bytes_per_s is None
    assert first.missing["network_received_bytes_per_s"] is Missing.NOT_YET
    assert (second.network_received_bytes_per_s, second.network_sent_bytes_per_s) == (500.0, 1000.0)
    assert (second.disk_read_bytes_per_s, second.disk_written_bytes_per_s) == (1500.0, 2000.0)
    assert second.missing == {}


def test_a_counter_that_went_back_has_no_rate_once() -> None:
    fake = FakePsutil()
    fake.bytes = 1000
    made = reader(fake)
    made.read(1.0)
    fake.bytes = 10

    assert made.read(2.0).missing["disk_read_bytes_per_s"] is Missing.NOT_YET


def test_sensors_users_and_frequency_are_clean_and_sorted() -> None:
    found = reader(FakePsutil()).read(1.0)

    assert found.temperatures == (Temperature(chip="k10temp", label="Tctl␛", celsius=61.5, high_celsius=95.0),)
    assert found.fans == (Fan(chip="ipmi", label="FAN1", rpm=4000),)
    assert (found.users, found.cpu_hertz) == (("ann", "bob"), 3.1e9)


def test_a_machine_without_sensors_says_so() -> None:
    found = reader(BarePsutil()).read(1.0)

    assert (found.temperatures, found.fans, found.users, found.cpu_hertz) == ((), (), (), None)
    unsupported = {"temperatures", "fans", "cpu_hertz", "disk_read_bytes_per_s", "disk_written_bytes_per_s"}
    assert {name for name, why in found.missing.items() if why is Missing.UNSUPPORTED} == unsupported


def test_sensors_that_hang_hold_up_no_sample_and_are_reported() -> None:
    fake = FakePsutil()
    fake.gate.clear()
    made = reader(fake, patience_s=0.0)
    early, late = made.read(1.0), made.read(8.0)
    fake.gate.set()

    assert early.missing["temperatures"] is Missing.NOT_YET
    assert late.missing["temperatures"] is Missing.HUNG


def test_sensors_are_read_every_ten_seconds_at_most() -> None:
    fake = FakePsutil()
    made = reader(fake)
    for second in range(1, 25):
        made.read(float(second))

    assert fake.sensor_readings == 3


def test_the_real_psutil_answers() -> None:
    made = HostDetailsReader(patience_s=60.0)
    made.read(1.0)
    found = made.read(2.0)

    assert found.users is not None
    assert Missing.HUNG not in found.missing.values()
    assert (found.network_received_bytes_per_s is None) == ("network_received_bytes_per_s" in found.missing)


def test_a_sample_has_details_only_while_they_are_requested() -> None:
    source = source_of_box(box("workstation"), Selection(), 1.0, is_once=True)
    source.open()
    before = source.read().host.details
    source.want_details(60.0)
    during = source.read().host.details
    source.want_details(-1.0)

    assert before is None
    assert during is not None
    assert during.users == ("dora",)
    assert source.read().host.details is None

"""What is read of a GPU's MIG side, with rights and without."""

from typing import Any

from fake_driver import FakeFunctions, NVMLError
from simulated import box

from gputop.core.mig.explain import NoPlan, answer, unreadable
from gputop.core.mig.model import MigGpu, User, layout
from gputop.core.mig.request import read_request
from gputop.core.model.metric import Missing
from gputop.machine.mig.layout import LayoutReader
from gputop.machine.nvml.driver import Driver

NO_PERMISSION = 4


class Unprivileged:
    """A simulated driver as an ordinary user has it."""

    PRIVILEGED = ("nvmlDeviceGetGpuInstances", "nvmlDeviceGetGpuInstancePossiblePlacements")

    def __init__(self, functions: Any, *refused: str) -> None:
        self.NVMLError = functions.NVMLError
        self._functions = functions
        self._refused = refused or self.PRIVILEGED

    def __getattr__(self, name: str) -> Any:
        if name in self._refused:
            return self._refuse
        return getattr(self._functions, name)

    def _refuse(self, *_: Any) -> Any:
        raise self.NVMLError(NO_PERMISSION)


def read(functions: Any) -> tuple[MigGpu, ...]:
    return LayoutReader(Driver(functions), lambda pid: User(pid=pid, user="ann")).all()


def test_instances_have_their_places_their_compute_instances_and_their_processes() -> None:
    first, whole, third = read(box("mig").driver)

    assert [one.text for one in first.instances] == ["2g.10gb@0", "1g.5gb@2", "1g.5gb@3", "3g.20gb@4"]
    assert [[user.pid for user in one.everyone] for one in first.instances] == [[30562], [30788], [], [30411]]
    assert (whole.is_on, whole.instances, len(whole.users)) == (False, (), 3)
    assert [(c.start, c.slices) for c in third.instances[0].computes] == [(0, 2), (2, 2)]
    assert all(c.uuid.startswith("MIG-") for one in (*first.instances, *third.instances) for c in one.computes)


class Variants:
    """A simulated driver that lists a second compute profile of one slice, and all instances of one slice under it."""

    USUAL, VARIANT = 0, 7

    def __init__(self, functions: Any) -> None:
        self.NVMLError = functions.NVMLError
        self._functions = functions

    def __getattr__(self, name: str) -> Any:
        return getattr(self._functions, name)

    def nvmlGpuInstanceGetComputeInstanceProfileInfo(self, instance: Any, kind: int) -> Any:  # noqa: N802 - NVML's name
        if kind != self.VARIANT:
            return self._functions.nvmlGpuInstanceGetComputeInstanceProfileInfo(instance, kind)
        _, *rest = self._functions.nvmlGpuInstanceGetComputeInstanceProfileInfo(instance, self.USUAL)
        return (self.VARIANT, *rest)

    def nvmlGpuInstanceGetComputeInstances(self, instance: Any, profile: int) -> Any:  # noqa: N802 - NVML's name
        if profile == self.USUAL:
            return []
        found = self.USUAL if profile == self.VARIANT else profile
        return self._functions.nvmlGpuInstanceGetComputeInstances(instance, found)


def test_compute_instances_of_a_second_profile_of_the_same_size_are_found() -> None:
    first, *_ = read(Variants(box("mig").driver))

    assert [len(one.computes) for one in first.instances] == [1, 1, 1, 1]


def test_profiles_are_read_from_the_driver_largest_first() -> None:
    names = [profile.name for profile in read(box("mig").driver)[2].geometry.profiles]

    assert names == ["7g.80gb", "4g.40gb", "3g.40gb", "2g.20gb", "1g.20gb", "1g.10gb", "1g.10gb+me"]


def test_the_generation_says_what_a_change_of_the_mode_takes() -> None:
    ampere, _, hopper = read(box("mig").driver)

    assert (ampere.needs_reset, ampere.keeps_mode) == (True, True)
    assert (hopper.needs_reset, hopper.keeps_mode) == (False, False)


def test_a_gpu_without_mig_says_so() -> None:
    gpu = read(box("workstation").driver)[0]

    assert gpu.is_on is None
    assert gpu.why == "this GPU does not support MIG"
    assert unreadable(gpu) == "this GPU does not support MIG"


def test_without_rights_the_instances_are_known_and_their_places_are_not() -> None:
    gpu = read(Unprivileged(box("mig").driver))[0]

    assert [(one.profile, one.start) for one in gpu.instances] == [
        ("3g.20gb", None), ("2g.10gb", None), ("1g.5gb", None), ("1g.5gb", None),
    ]  # fmt: skip
    assert gpu.missing == {"placements": Missing.FORBIDDEN, "instances": Missing.FORBIDDEN}
    assert [user.pid for one in gpu.instances for user in one.everyone] == [30411, 30562, 30788]
    found = answer(gpu, read_request("7g", gpu))
    assert isinstance(found, NoPlan)
    assert "no permission" in found.reason


def test_a_driver_that_tells_no_names_has_them_made_up_as_nvidias_tools_do() -> None:
    class Nameless(Unprivileged):
        def __getattr__(self, name: str) -> Any:
            function = getattr(self._functions, name)
            if name != "nvmlDeviceGetGpuInstanceProfileInfo":
                return function
            return lambda *args: (*function(*args)[:5], "")

    names = [profile.name for profile in read(Nameless(box("mig").driver))[0].geometry.profiles]

    assert names == ["7g.40gb", "4g.20gb", "3g.20gb", "2g.10gb", "1g.10gb", "1g.5gb", "1g.5gb+me"]


def test_an_instance_that_vanishes_between_two_questions_is_left_out() -> None:
    inner = box("mig").driver

    class Vanishing(Unprivileged):
        def _refuse(self, *_: Any) -> Any:
            raise self.NVMLError(2)

    assert read(Vanishing(inner, "nvmlGpuInstanceGetInfo"))[0].instances == ()


def test_a_driver_that_answers_next_to_nothing_gives_gpus_without_mig() -> None:
    (gpu,) = read(FakeFunctions(nvmlDeviceGetPciInfo=NVMLError(15)))

    assert gpu.is_on is None
    assert layout(gpu.instances) == ()

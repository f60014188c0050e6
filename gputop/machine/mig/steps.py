"""Driver calls for the steps of a plan; each step looks up its handles again, which a change invalidates."""

from typing import Any

from gputop.core.mig.model import MigGpu
from gputop.core.mig.steps import Step, StepKind
from gputop.core.model.metric import Missing
from gputop.machine.mig.layout import compute_profiles
from gputop.machine.nvml import codes
from gputop.machine.nvml.driver import Driver, Handle, RefusedError


class PendingError(Exception):
    """The driver accepted the new mode, which is pending. ``code``: the nvmlReturn_t with the reason."""

    def __init__(self, code: int) -> None:
        super().__init__(f"NVML error {code}")
        self.code = code


class StepRunner:
    """Runs steps on one GPU, with the profile ids read before."""

    def __init__(self, driver: Driver, gpu: MigGpu) -> None:
        self._driver = driver
        self._uuid = gpu.uuid
        self._ids = {profile.name: profile for profile in gpu.geometry.profiles}

    def run(self, step: Step) -> None:
        """Run a step. Raises RefusedError and PendingError."""
        match step.kind:
            case StepKind.ENABLE | StepKind.DISABLE:
                self._set_mode(is_on=step.kind is StepKind.ENABLE)
            case StepKind.CREATE_INSTANCE:
                profile = self._profile_id(step)
                name = "nvmlDeviceCreateGpuInstanceWithPlacement"
                self._driver.call(name, self.handle(), profile, step.start, step.size)
            case StepKind.DESTROY_INSTANCE:
                self._driver.call("nvmlGpuInstanceDestroy", self._instance(step))
            case StepKind.CREATE_COMPUTE:
                self._create_compute(step)
            case StepKind.DESTROY_COMPUTE:
                self._driver.call("nvmlComputeInstanceDestroy", self._compute(step))

    def handle(self) -> Handle:
        """Return the GPU's handle. Raises RefusedError."""
        found = self._driver.ask("nvmlDeviceGetHandleByUUID", self._uuid)
        return _checked("nvmlDeviceGetHandleByUUID", found)

    def _set_mode(self, *, is_on: bool) -> None:
        """Set the mode. The call can succeed although its status says that the change is pending."""
        status = self._driver.call("nvmlDeviceSetMigMode", self.handle(), int(is_on))
        if status:
            raise PendingError(status)
        mode = self._driver.ask("nvmlDeviceGetMigMode", self.handle())
        if not isinstance(mode, Missing) and bool(mode[0]) is not is_on:
            raise PendingError(codes.RESET_REQUIRED)

    def _create_compute(self, step: Step) -> None:
        instance = self._instance(step)
        profile, *_ = self._compute_profiles(instance, step)
        name = "nvmlGpuInstanceCreateComputeInstanceWithPlacement"
        self._driver.call(name, instance, profile, step.compute_start, step.slices)

    def _profile_id(self, step: Step) -> int:
        profile = self._ids.get(step.profile)
        if profile is None:
            raise RefusedError("nvmlDeviceGetGpuInstanceProfileInfo", codes.NOT_SUPPORTED)
        return profile.id

    def _instance(self, step: Step) -> Handle:
        """Return the GPU instance of the step's profile and start. Raises RefusedError."""
        most = self._ids[step.profile].most if step.profile in self._ids else 0
        name = "nvmlDeviceGetGpuInstances"
        handles = self._driver.ask(name, self.handle(), self._profile_id(step), most)
        return self._at(step.start, name, handles, "nvmlGpuInstanceGetInfo")

    def _compute(self, step: Step) -> Handle:
        instance = self._instance(step)
        name = "nvmlGpuInstanceGetComputeInstances"
        profiles = self._compute_profiles(instance, step)
        handles = [handle for one in profiles for handle in _checked(name, self._driver.ask(name, instance, one))]
        return self._at(step.compute_start, name, handles, "nvmlComputeInstanceGetInfo")

    def _compute_profiles(self, instance: Handle, step: Step) -> list[int]:
        """Return the ids of the profiles with the step's slices. Raises RefusedError."""
        profiles = compute_profiles(self._driver, instance).get(step.slices)
        if profiles is None:
            raise RefusedError("nvmlGpuInstanceGetComputeInstanceProfileInfo", codes.NOT_SUPPORTED)
        return profiles

    def _at(self, start: int, name: str, handles: Any, info_name: str) -> Handle:
        """Return the handle, of those that the function ``name`` returned, with this start. Raises RefusedError."""
        for handle in _checked(name, handles):
            info = self._driver.ask(info_name, handle)
            if not isinstance(info, Missing) and info[2] == start:
                return handle
        raise RefusedError(name, codes.NOT_FOUND)


def _checked(name: str, answer: Any) -> Any:
    """Return an answer that is not `Missing`. Raises RefusedError otherwise."""
    if isinstance(answer, Missing):
        raise RefusedError(name, codes.NO_PERMISSION if answer is Missing.FORBIDDEN else codes.UNKNOWN)
    return answer

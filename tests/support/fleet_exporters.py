"""Many exporters in one server: the page of ``/metrics?target=host0042`` is that of a host with 8 GPUs."""

import asyncio
from random import Random

_GPUS = 8
_PROF = ("GR_ENGINE_ACTIVE", "PIPE_TENSOR_ACTIVE", "DRAM_ACTIVE", "PCIE_TX_BYTES", "PCIE_RX_BYTES")
_PLAIN = {
    "SM_CLOCK": 1980, "MEM_CLOCK": 2619, "MEMORY_TEMP": 45, "PCIE_REPLAY_COUNTER": 0, "ENC_UTIL": 0, "DEC_UTIL": 0,
    "XID_ERRORS": 0, "VGPU_LICENSE_STATUS": 0, "UNCORRECTABLE_REMAPPED_ROWS": 0, "CORRECTABLE_REMAPPED_ROWS": 0,
    "ROW_REMAP_FAILURE": 0, "NVLINK_BANDWIDTH_TOTAL": 0,
}  # fmt: skip


def page(host: str, *, variant: int = 0) -> str:
    """Return the page of a host, as dcgm-exporter writes it. Every fifth host is idle, every third is free."""
    random = Random(f"{host}{variant}")  # noqa: S311 - no secret
    number = int("".join(sign for sign in host if sign.isdecimal()) or 0)
    lines: dict[str, list[str]] = {}
    for gpu in range(_GPUS):
        load = 0 if number % 3 == 0 or number % 5 == 0 else random.randint(40, 100)
        used = 500 if number % 3 == 0 else random.randint(30_000, 70_000)
        values = {
            "GPU_TEMP": 30 + load // 3, "POWER_USAGE": 70 + load * 6, "GPU_UTIL": load, "MEM_COPY_UTIL": load // 2,
            "FB_FREE": 81_000 - used, "FB_USED": used, "TOTAL_ENERGY_CONSUMPTION": 1_000_000 + variant, **_PLAIN,
        }  # fmt: skip
        labels = (
            f'gpu="{gpu}",UUID="GPU-{number:08x}-{gpu}",pci_bus_id="00000000:{gpu:02X}:00.0",device="nvidia{gpu}",'
            f'modelName="NVIDIA H100 80GB HBM3",Hostname="{host}",DCGM_FI_DRIVER_VERSION="570.86.15"'
        )
        for name, value in values.items():
            lines.setdefault(f"DCGM_FI_DEV_{name}", []).append(f"DCGM_FI_DEV_{name}{{{labels}}} {value}")
        for name in _PROF:
            lines.setdefault(f"DCGM_FI_PROF_{name}", []).append(f"DCGM_FI_PROF_{name}{{{labels}}} {load / 100:f}")
    return "".join(
        f"# HELP {name} help\n# TYPE {name} gauge\n" + "".join(f"{line}\n" for line in held)
        for name, held in lines.items()
    )


async def serve(port: int = 0) -> asyncio.Server:
    """Serve pages; four variants of each host in turn."""
    pages: dict[tuple[str, int], bytes] = {}
    count = 0

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal count
        try:
            while line := await reader.readline():
                while (await reader.readline()).strip():
                    pass
                host = line.split()[1].decode().partition("target=")[2] or "host0000"
                count += 1
                key = host, count // 1000 % 4
                body = pages.get(key)
                if body is None:
                    body = pages[key] = page(host, variant=key[1]).encode()
                head = (
                    f"HTTP/1.1 200 OK\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: {len(body)}\r\n\r\n"
                )
                writer.write(head.encode() + body)
                await writer.drain()
        finally:
            writer.close()

    return await asyncio.start_server(answer, "127.0.0.1", port)

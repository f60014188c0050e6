"""Plugin packages that Python finds, as an installer would leave them."""

from pathlib import Path


def install(folder: Path, name: str, code: str, value: str = "PLUGIN") -> None:
    """Put a package into a folder of the path."""
    module = f"gputop_{name}"
    (folder / f"{module}.py").write_text(code)
    info = folder / f"{module}-0.1.dist-info"
    info.mkdir()
    (info / "entry_points.txt").write_text(
        f"[console_scripts]\nx = y:z\n\n[gputop.plugins]\n{name} = {module}:{value}\n"
    )

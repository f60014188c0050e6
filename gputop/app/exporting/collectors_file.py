"""The file that chooses the series of dcgm, in dcgm-exporter's format."""

from typing import Final

from msgspec.structs import replace

from gputop.app.errors import BadRequestError
from gputop.app.terminal import warn
from gputop.core.text.text import clean, excerpt
from gputop.machine.small_file import read_small
from gputop.report.prometheus.collectors import CollectorsError, collectors_of
from gputop.report.prometheus.scene import Shape

_MOST_REMARKS: Final = 20


def shape_by(path: str | None, shape: Shape) -> Shape:
    """Return the shape with the series and labels of the file; warn about its other lines. Raises BadRequestError."""
    if path is None:
        return shape
    try:
        chosen = collectors_of(read_small(path).decode())
    except OSError as error:
        raise BadRequestError(f"cannot read {excerpt(path)}: {error.strerror or error}") from None
    except UnicodeDecodeError:
        raise BadRequestError(f"{excerpt(path)} is not text") from None
    except CollectorsError as error:
        raise BadRequestError(f"{excerpt(path)}: {error}") from None
    for remark in chosen.remarks[:_MOST_REMARKS]:
        warn(clean(f"{path}: {remark}"))
    if len(chosen.remarks) > _MOST_REMARKS:
        warn(clean(f"{path}: {len(chosen.remarks) - _MOST_REMARKS} more lines choose no series"))
    return replace(shape, chosen=chosen.series, board_labels=chosen.labels)

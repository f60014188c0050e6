"""gputop export: the series of this host, for Prometheus."""

import argparse
from typing import Final

from gputop.app.errors import OK
from gputop.app.exporting.export import ExportRequest, export
from gputop.cli.args.options import add_common, add_ending, whole, words
from gputop.cli.args.requests import request_of
from gputop.core.text.text import excerpt

_KUBELET: Final = "/var/lib/kubelet/pod-resources/kubelet.sock"
_GROUPS: Final = ("dcgm", "dcgm-more", "gputop")
_HOSTNAMES: Final = ("both", "Hostname", "hostname", "none")


def add(parser: argparse.ArgumentParser) -> None:
    """Add the command's options."""
    parser.description = (
        "Serve the GPUs of this host to Prometheus at /metrics. The series have the names of dcgm-exporter, so that its"
        " dashboards work unchanged. Jobs, users and findings have names of gputop: docs/prometheus.md describes each"
        " series."
    )
    parser.add_argument(
        "--listen", default="127.0.0.1:9400", metavar="ADDRESS:PORT",
        help="where to serve (default 127.0.0.1:9400: only this host); :9400 for all addresses",
    )  # fmt: skip
    parser.add_argument(
        "--web-config", metavar="FILE",
        help="TLS, client certificates and passwords, in the format of Prometheus' exporter toolkit",
    )  # fmt: skip
    parser.add_argument(
        "--notify", dest="receivers", action="append", metavar="RECEIVER",
        help="also send the problems to this receiver; the word all sends them to every receiver in the configuration"
        " file. See: gputop notify --help",
    )  # fmt: skip
    parser.add_argument(
        "--textfile", metavar="DIR",
        help="serve nothing; write DIR/gputop.prom for the textfile collector of node_exporter, every 10 s",
    )  # fmt: skip
    parser.add_argument(
        "--service", dest="is_unit", action="store_true",
        help="print a systemd unit that runs gputop export with the other options",
    )  # fmt: skip
    _add_series(parser.add_argument_group("series"))
    _add_labels(parser.add_argument_group("labels"))
    add_common(parser)
    add_ending(
        parser,
        "gputop export --listen :9400 --web-config /etc/gputop/web.yml",
        "gputop export --service --listen :9400 | sudo tee /etc/systemd/system/gputop-export.service",
        "gputop export --series dcgm,dcgm-more,gputop",
        status="0 ended by a signal, 2 bad input, 3 no driver",
    )


def _add_series(shape: argparse._ArgumentGroup) -> None:
    """Add the options for what is exported."""
    shape.add_argument(
        "--series", dest="groups", type=_groups, metavar="GROUPS",
        help="dcgm: the default set of dcgm-exporter; dcgm-more: its optional ones; gputop: gputop's own"
        " (default dcgm,gputop)",
    )  # fmt: skip
    shape.add_argument(
        "--collectors", metavar="FILE",
        help="the series of dcgm, with types and help, in the format of dcgm-exporter's -f: FIELD, TYPE, HELP per line."
        " It replaces the groups dcgm and dcgm-more",
    )  # fmt: skip
    shape.add_argument(
        "--devices", choices=("f", "g", "i", "g+i"), default="f", metavar="WHICH",
        help="which devices have series of dcgm: f: MIG instances, and GPUs without instances (default); g: GPUs;"
        " i: instances; g+i: both",
    )  # fmt: skip
    shape.add_argument(
        "--hostname-label", choices=_HOSTNAMES, default="both", metavar="NAME",
        help="label with the name of the host in series of dcgm: Hostname (dcgm-exporter up to 4.8.2), hostname,"
        " both (default) or none",
    )  # fmt: skip
    shape.add_argument(
        "--processes", type=whole(1), metavar="N",
        help="also serve series of the N processes with the most GPU memory (default: none)",
    )  # fmt: skip


def _add_labels(labels: argparse._ArgumentGroup) -> None:
    """Add the options for labels that other systems give."""
    labels.add_argument(
        "--kubernetes", nargs="?", const=_KUBELET, metavar="SOCKET",
        help="add the labels pod, namespace and container to the series of dcgm, read from the kubelet"
        f" (default {_KUBELET}). Needs grpcio: pip install 'gputop-tui[kubernetes]'",
    )  # fmt: skip
    labels.add_argument(
        "--kubernetes-virtual-gpus", dest="virtual_gpus", action="store_true",
        help="with --kubernetes: repeat the series of a GPU that pods share, once for each pod, with the label vgpu",
    )  # fmt: skip
    labels.add_argument(
        "--hpc-job-mapping-dir", metavar="DIR",
        help="directory in which a prolog writes the jobs of GPU 0 into the file 0, one per line; they become the"
        " label hpc_job of the series of dcgm (default $DCGM_HPC_JOB_MAPPING_DIR)",
    )  # fmt: skip


def _groups(text: str) -> tuple[str, ...]:
    found = words(text)
    unknown = [name for name in found if name not in _GROUPS]
    if unknown:
        raise argparse.ArgumentTypeError(f"{excerpt(unknown[0])!r} is not one of {', '.join(_GROUPS)}")
    return found


def run(options: argparse.Namespace) -> int:
    """Serve."""
    export(request_of(options, ExportRequest))
    return OK

"""The pages of the exporter: /metrics, /health and a page that links to them."""

import gzip
from collections.abc import Mapping
from typing import Final

from gputop.app.exporting.publication import Publication
from gputop.wire.http_server import Request, Response

_METRICS: Final = "text/plain; version=0.0.4; charset=utf-8"
_HTML: Final = "text/html; charset=utf-8"
_PAGE: Final = b"""<!DOCTYPE html>
<html lang="en"><head><title>gputop exporter</title></head>
<body><h1>gputop exporter</h1>
<p><a href="metrics">metrics</a>: series for Prometheus</p>
<p><a href="health">health</a>: whether the last sample is fresh</p>
</body></html>
"""
_SAFE: Final = {"X-Content-Type-Options": "nosniff", "Content-Security-Policy": "default-src 'none'"}


def answer(request: Request, publication: Publication) -> Response:
    """Return the page of a path."""
    match request.path:
        case "/metrics":
            return _metrics(publication, request.headers)
        case "/health" | "/-/healthy" | "/-/ready":
            return _health(publication)
        case "/":
            return Response(200, _PAGE, _HTML, _SAFE)
        case _:
            return Response(404, b"Not Found. The series are at /metrics\n")


def _metrics(publication: Publication, headers: Mapping[str, str]) -> Response:
    body = publication.text().encode()
    if not _accepts_gzip(headers.get("accept-encoding", "")):
        return Response(200, body, _METRICS, {"Vary": "Accept-Encoding"})
    packed = gzip.compress(body, 1, mtime=0)
    return Response(200, packed, _METRICS, {"Content-Encoding": "gzip", "Vary": "Accept-Encoding"})


def _accepts_gzip(accepted: str) -> bool:
    for each in accepted.lower().split(","):
        name, _, quality = each.strip().partition(";")
        if name.strip() == "gzip":
            return quality.replace(" ", "") not in {"q=0", "q=0.0", "q=0.00", "q=0.000"}
    return False


def _health(publication: Publication) -> Response:
    if publication.is_fresh:
        return Response(200, b"OK\n")
    age_s = publication.age_s
    why = "no sample yet" if age_s is None else f"the last sample is {age_s:.0f} s old: the driver may hang"
    return Response(503, f"{why}\n".encode())

"""An HTTP server on 127.0.0.1 that can be told to misbehave."""

import contextlib
import http.server
import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from email.message import Message


@dataclass
class Site:
    """What is served, how it goes wrong, and what was asked for."""

    files: dict[str, bytes]
    cut_after: list[int] = field(default_factory=list)  # bytes of content after which the next answers break off
    statuses: list[int] = field(default_factory=list)  # the next answers are these errors
    extra_length: int = 0  # promised beyond what there is
    knows_ranges: bool = True
    etag: str = '"one"'
    requests: list[tuple[str, str | None]] = field(default_factory=list)  # (path, Range)
    address: str = ""


class _Handler(http.server.BaseHTTPRequestHandler):
    site: Site

    def do_GET(self) -> None:
        site = self.site
        site.requests.append((self.path, self.headers.get("Range")))
        content = site.files.get(self.path.removeprefix("/"))
        if site.statuses or content is None:
            self.send_error(site.statuses.pop(0) if content is not None else 404)
            return
        start = self._start(self.headers, len(content) + site.extra_length)
        if start > len(content) or (start == len(content) and start):
            self.send_response(416)
            self.send_header("Content-Range", f"bytes */{len(content)}")
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        self.send_response(206 if start else 200)
        if start:
            self.send_header("Content-Range", f"bytes {start}-{len(content) - 1}/{len(content)}")
        self.send_header("Content-Length", str(len(content) - start + site.extra_length))
        self.send_header("ETag", site.etag)
        self.end_headers()
        self.wfile.write(content[start:][: site.cut_after.pop(0) if site.cut_after else None])
        self.close_connection = True

    def _start(self, headers: Message, length: int) -> int:
        if (
            not self.site.knows_ranges
            or "Range" not in headers
            or headers.get("If-Range", self.site.etag) != self.site.etag
        ):
            return 0
        return int(headers["Range"].removeprefix("bytes=").removesuffix("-"))

    def log_message(self, format: str, *arguments: object) -> None:
        pass


@contextlib.contextmanager
def serving(site: Site) -> Iterator[Site]:
    handler = type("Handler", (_Handler,), {"site": site})
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        site.address = f"http://127.0.0.1:{server.server_address[1]}/"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield site
        finally:
            server.shutdown()
            thread.join()

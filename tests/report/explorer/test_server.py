"""The operations over HTTP: what is answered, to whom, and what is refused."""

from __future__ import annotations

import json
import re
import socket
import threading
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morphlm.errors import ConfigError
from morphlm.report.explorer.guard import HEADERS
from morphlm.report.explorer.limits import Deadline
from morphlm.report.explorer.operations import Explorer
from morphlm.report.explorer.server import PAGES
from morphlm.report.explorer.serving import CONNECTIONS, bind

from .small import explorer, running


@contextmanager
def client_of(page: Explorer) -> Iterator[httpx.Client]:
    with running(page) as address, httpx.Client(base_url=address, timeout=30) as client:
        yield client


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with client_of(explorer()) as made:
        yield made


def own_host(client: httpx.Client) -> str:
    return f"127.0.0.1:{client.base_url.port}"


def assert_error(response: httpx.Response, status: int, what: str) -> None:
    assert response.status_code == status
    assert response.headers["content-type"] == "application/json"
    (message,) = response.json().values()
    assert list(response.json()) == ["error"]
    assert what in message


# ---------------------------------------------------------------- answers


def test_the_answers_are_those_of_the_operations(client: httpx.Client) -> None:
    page = explorer()
    body = {"text": "Školu domou.", "k": 2}
    both = {"baseline": "0", "other": "clbl++", "text": "Školu.\nDomy domou"}
    asked: list[tuple[httpx.Response, Any]] = [
        (client.get("/api/models"), page.cards()),
        (client.get("/api/word", params={"model": "clbl++", "word": "Domou", "k": 3}), page.word("2", "Domou", 3)),
        (client.get("/api/morpheme", params={"model": 2, "name": "ou/SUF"}), page.morpheme("2", "ou/SUF")),
        (client.post("/api/sentence", json=body), page.sentence("Školu domou.", k=2)),
        (client.post("/api/complete", json=body | {"model": "mkn"}), page.complete("mkn", "Školu domou.", k=2)),
        (client.post("/api/compare", json=both), page.compare("0", "clbl++", "Školu.\nDomy domou")),
    ]
    for response, view in asked:
        assert response.status_code == 200, response.text
        plain = [asdict(card) for card in view] if isinstance(view, list) else asdict(view)
        assert response.json() == json.loads(json.dumps(plain))


def test_the_map_is_there_when_it_is_made(client: httpx.Client) -> None:
    deadline = Deadline.after(60)
    while (found := client.get("/api/map", params={"model": "clbl++"}).json())["state"] == "computing":
        deadline.check()
        time.sleep(0.05)
    assert (found["state"], len(found["points"])) == ("ready", 11)
    place = client.get("/api/place", params={"model": "clbl++", "word": "domou"}).json()["place"]
    assert 0 <= place["x"] <= 1


def test_the_pages(client: httpx.Client) -> None:
    for address, (_, name, kind) in PAGES.items():
        response = client.get(address)
        assert (response.status_code, response.headers["content-type"]) == (200, kind), name
        assert client.head(address).status_code == 200
        assert len(response.content) > 200


def test_pages_have_no_script_or_style_inside_and_name_no_other_host(client: httpx.Client) -> None:
    for address in PAGES:
        text = client.get(address).text
        assert not re.search(r"<script(?![^>]*\bsrc=)|<style|\sstyle=|\son\w+=|javascript:", text), address
        assert "innerHTML" not in text
        addresses = set(re.findall(r"(?:https?:)?//[\w.-]+\.\w+[^\s\"']*", text)) - {"http://www.w3.org/2000/svg"}
        assert not addresses


def test_every_answer_has_the_headers(client: httpx.Client) -> None:
    for response in (
        client.get("/"),
        client.get("/api/models"),
        client.get("/nothing"),
        client.get("/", headers={"Host": "evil.example"}),
        client.post("/api/sentence", content=b"x"),
    ):
        assert {name: response.headers[name] for name in HEADERS} == HEADERS
        assert "access-control-allow-origin" not in response.headers
    assert "script-src" not in HEADERS["Content-Security-Policy"]
    assert "unsafe" not in HEADERS["Content-Security-Policy"]


def test_the_description_has_every_operation_and_its_errors(client: httpx.Client) -> None:
    described = client.get("/api/openapi.json").json()
    assert list(described["paths"]) == [
        *["/api/models", "/api/examples", "/api/word", "/api/morpheme", "/api/map", "/api/place"],
        *["/api/sentence", "/api/complete", "/api/compare"],
    ]
    for methods in described["paths"].values():
        for operation in methods.values():
            assert operation["description"]
            assert {"200", "400", "413", "422", "503", "504"} <= set(operation["responses"])
    assert set(described["components"]["schemas"]["ErrorBody"]["properties"]) == {"error"}
    assert "HTTPValidationError" not in described["components"]["schemas"]


# ---------------------------------------------------------------- who may ask


@pytest.mark.parametrize("name", ["127.0.0.1", "localhost", "LOCALHOST"])
def test_own_names(name: str, client: httpx.Client) -> None:
    assert client.get("/api/models", headers={"Host": f"{name}:{client.base_url.port}"}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        *["evil.example", "evil.example:PORT", "127.0.0.1", "127.0.0.1:1", "127.0.0.1:PORT.evil.example"],
        *["", "0.0.0.0:PORT", "[::1]:PORT", "127.0.0.1:PORT, evil.example", "x@127.0.0.1:PORT"],
    ],
)
def test_other_names_of_this_machine_are_refused(host: str, client: httpx.Client) -> None:
    """A foreign name may resolve to this machine: the browser then thinks that the page is the foreign one."""
    for address in ("/", "/api/models"):
        response = client.get(address, headers={"Host": host.replace("PORT", str(client.base_url.port))})
        assert_error(response, 403, f"answers only to http://{own_host(client)}/")


@pytest.mark.parametrize(
    "headers",
    [
        *[{"Origin": origin} for origin in ("http://evil.example", "null", "", "https://OWN", "http://127.0.0.1:1")],
        *[{"Sec-Fetch-Site": site} for site in ("cross-site", "same-site", "")],
    ],
)
def test_other_pages_are_refused(headers: dict[str, str], client: httpx.Client) -> None:
    sent = {name: value.replace("OWN", own_host(client)) for name, value in headers.items()}
    response = client.post("/api/sentence", json={"text": "a"}, headers=sent)
    assert_error(response, 403, "does not answer to other pages")


def test_the_own_page_may_ask_and_other_pages_may_link_to_it(client: httpx.Client) -> None:
    own = {"Origin": f"http://{own_host(client)}", "Sec-Fetch-Site": "same-origin"}
    assert client.post("/api/sentence", json={"text": "a"}, headers=own).status_code == 200
    assert client.get("/", headers={"Sec-Fetch-Site": "cross-site"}).status_code == 200


def test_a_port_of_this_machine_only() -> None:
    with bind(0) as bound:
        host, port = bound.getsockname()
        assert host == "127.0.0.1"
        with pytest.raises(ConfigError, match=f"port {port} cannot be had .*port="):
            bind(port)


# ---------------------------------------------------------------- what cannot be answered


@pytest.mark.parametrize(
    "address",
    [
        *["/nothing", "/api", "/api/nothing", "/docs", "/redoc", "/openapi.json", "/index.html", "/explorer.js/"],
        *["/../server.py", "/%2e%2e/%2e%2e/etc/passwd", "/..%2f..%2fetc%2fpasswd", "//etc/passwd", "/page/index.html"],
        *["/explorer.css%00.html", "/.//style.css", "/api/models/..%2f..%2fserver.py", "/\\etc\\passwd"],
    ],
)
def test_there_is_nothing_else(address: str, client: httpx.Client) -> None:
    request = client.build_request("GET", "/")
    request.url = request.url.copy_with(raw_path=address.encode())
    response = client.send(request)
    assert response.status_code in (404, 307)
    assert b"root:" not in response.content
    if response.status_code == 404:
        assert_error(response, 404, "there is nothing at this address; see /api/docs")


@pytest.mark.parametrize(
    ("method", "address"),
    [
        ("DELETE", "/api/models"),
        ("GET", "/api/sentence"),
        ("POST", "/"),
        ("PUT", "/api/word"),
        ("OPTIONS", "/api/word"),
    ],
)
def test_other_methods(method: str, address: str, client: httpx.Client) -> None:
    response = client.request(method, address)
    assert_error(response, 405, f"this address does not take {method}")
    assert response.headers["allow"]


@pytest.mark.parametrize(
    ("address", "status", "what"),
    [
        ("/api/word", 422, "model: Field required; word: Field required"),
        ("/api/word?model=0", 422, "word: Field required"),
        ("/api/word?model=0&word=a&k=x", 422, "k: Input should be a valid integer"),
        ("/api/word?model=0&word=a&k=999", 400, "999 answers are asked for; ask for 0 to 50"),
        ("/api/word?model=0&word=a&k=1e999", 422, "k: "),
        ("/api/word?model=/etc/passwd&word=a", 400, "no such model"),
        ("/api/word?model=../../m&word=a", 400, "no such model"),
        (f"/api/word?model={'a' * 600}&word=a", 422, "model: "),
        ("/api/word?model=0&word=", 400, "nothing is typed"),
        ("/api/word?model=0&word=%00", 400, "NUL"),
        ("/api/word?model=1&word=%ff%fe", 200, ""),
        (f"/api/word?model=1&word={'a' * 101}", 400, "a word of 101 characters"),
        ("/api/morpheme?model=clbl%2B%2B&name=<b>", 400, "is no morpheme"),
        ("/api/map?model=9", 400, "no such model"),
        ("/api/place?model=1&word=", 400, "nothing is typed"),
    ],
)
def test_bad_questions(address: str, status: int, what: str, client: httpx.Client) -> None:
    response = client.get(address)
    if status == 200:
        assert response.status_code == 200
    else:
        assert_error(response, status, what)


@pytest.mark.parametrize(
    ("body", "status", "what"),
    [
        (b"", 422, "Field required"),
        (b"{", 422, "the body is no object in JSON"),
        (b"[]", 422, "the body is no object in JSON"),
        (b'"text"', 422, "the body is no object in JSON"),
        (b"\xff", 400, "error parsing the body"),
        (b"[" * 100_000, 400, "error parsing the body"),
        (b"{}", 422, "text: Field required"),
        (b'{"text": 1}', 422, "text: Input should be a valid string"),
        (b'{"text": null}', 422, "text: Input should be a valid string"),
        (b'{"text": "a", "path": "/etc/passwd"}', 422, "path: Extra inputs are not permitted"),
        (b'{"text": "a", "k": 1.5}', 422, "k: "),
        (b'{"text": "a", "k": true}', 422, "k: "),
        (b'{"text": "a", "k": NaN}', 422, "k: "),
        (b'{"text": "a", "k": -1}', 400, "-1 answers"),
        (b'{"text": "a", "text_is": "code"}', 422, "text_is: "),
        (b'{"text": "a", "models": "mkn"}', 422, "models: "),
        (b'{"text": "a", "models": ["/etc/passwd"]}', 400, "no such model"),
        (b'{"text": "\\ud800"}', 400, "half of a pair"),
        (b'{"text": "a", "\\ud800": 1}', 422, "valid string"),
        (b'{"text": "a\\u0000"}', 400, "NUL"),
        (b'{"text": " "}', 400, "there are no words"),
        (b'{"text": "<s>", "text_is": "prepared"}', 400, "marks that the models set themselves"),
    ],
)
def test_bad_bodies(body: bytes, status: int, what: str, client: httpx.Client) -> None:
    response = client.post("/api/sentence", content=body, headers={"Content-Type": "application/json"})
    assert_error(response, status, what)


def test_a_body_that_does_not_say_that_it_is_json(client: httpx.Client) -> None:
    """Pages of other hosts could send such a one without asking first."""
    for kind in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
        response = client.post("/api/sentence", content=b'{"text": "a"}', headers={"Content-Type": kind})
        assert response.status_code == 422
        assert list(response.json()) == ["error"]


PLAIN = st.none() | st.booleans() | st.floats() | st.text()


@given(st.recursive(PLAIN, lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
@settings(max_examples=15)
def test_whatever_is_sent_is_answered_with_one_kind_of_error(client: httpx.Client, content: Any) -> None:
    for address in ("sentence", "complete", "compare"):
        body = json.dumps(content).encode()
        response = client.post(f"/api/{address}", content=body, headers={"Content-Type": "application/json"})
        assert response.status_code == 422
        assert list(response.json()) == ["error"]


def test_a_mistake_of_ours_is_an_error_of_the_same_kind(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Explorer, "word", lambda *arguments: 1 // 0)
    with client_of(explorer("mkn")) as client:
        assert_error(client.get("/api/word?model=0&word=a"), 500, "the terminal shows the cause")


# ---------------------------------------------------------------- limits


def test_a_large_body_is_refused_before_it_is_read() -> None:
    with client_of(explorer("mkn", body_bytes=1000)) as client:
        small, large = {"text": "a" * 900}, {"text": "a" * 1000}
        assert client.post("/api/sentence", json=small).status_code == 200
        assert_error(client.post("/api/sentence", json=large), 413, "a request of more than 1,000 bytes")
        pieces = iter([b" " * 300] * 10)  # of which nobody says how many they are
        response = client.post("/api/sentence", content=pieces, headers={"Content-Type": "application/json"})
        assert_error(response, 413, "a request of more than 1,000 bytes")


def test_the_announced_size_is_enough_to_refuse() -> None:
    """Nothing of the body is sent here."""
    with running(explorer("mkn")) as address, _connected(address) as raw:
        raw.sendall(_request(address, "POST /api/sentence", "Content-Length: 99999999"))
        assert raw.recv(1000).startswith(b"HTTP/1.1 413 ")


def test_who_sends_slowly_is_not_waited_for() -> None:
    with running(explorer("mkn", seconds=0.3)) as address, _connected(address) as raw:
        raw.sendall(_request(address, "POST /api/sentence", "Content-Length: 10") + b"{")
        assert raw.recv(1000).startswith(b"HTTP/1.1 408 ")


@contextmanager
def _many(address: str, number: int, sent: bytes) -> Iterator[list[socket.socket]]:
    """Connections that have sent something, and then wait."""
    with ExitStack() as stack:
        connections = [stack.enter_context(_connected(address)) for _ in range(number)]
        for connection in connections:
            with suppress(OSError):
                connection.sendall(sent)
        yield connections


def _is_open(connection: socket.socket) -> bool:
    connection.setblocking(False)
    try:
        return connection.recv(1 << 16) != b""
    except BlockingIOError:
        return True
    except OSError:
        return False


UNFINISHED = {
    "nothing": b"",
    "half a header": b"GET /api/models HTTP/1.1\r\nHost: 127.0.0.1",
    "a header without its last line": b"GET /api/models HTTP/1.1\r\nHost: 127.0.0.1\r\n",
    "half a body": b"POST /api/sentence HTTP/1.1\r\nHost: HOST\r\nContent-Length: 10\r\n\r\n{",
}


@pytest.mark.parametrize("unfinished", UNFINISHED)
def test_many_unfinished_requests_lock_nobody_out(unfinished: str) -> None:
    with running(explorer("mkn", header_seconds=1, seconds=1)) as address:
        sent = UNFINISHED[unfinished].replace(b"HOST", address.removeprefix("http://").encode())
        with _many(address, 150, sent) as connections:
            begin = time.monotonic()
            assert httpx.get(f"{address}/api/models", timeout=2).status_code == 200
            assert time.monotonic() - begin < 1
            deadline = Deadline.after(10)
            assert sum(map(_is_open, connections)) <= CONNECTIONS  # those that waited longest made room
            while any(map(_is_open, connections)):  # and the others go when their time is up
                deadline.check()
                time.sleep(0.05)
        assert httpx.get(f"{address}/api/models").status_code == 200


def test_a_header_that_comes_drop_by_drop_has_no_more_time() -> None:
    with running(explorer("mkn", header_seconds=0.5)) as address, _connected(address) as raw:
        begin = time.monotonic()
        with suppress(OSError):
            while time.monotonic() - begin < 10:
                raw.sendall(b"G")
                time.sleep(0.05)
        assert 0.4 < time.monotonic() - begin < 3


def test_the_time_for_a_header_begins_again_after_each_answer() -> None:
    with running(explorer("mkn", header_seconds=0.6)) as address, _connected(address) as raw:
        for _ in range(4):
            raw.sendall(_request(address, "GET /api/models"))
            answer = b""
            while not answer.endswith(b"}]"):
                answer += raw.recv(100_000)
            assert answer.startswith(b"HTTP/1.1 200 ")
            time.sleep(0.3)
        raw.sendall(b"GET /api/mod")
        raw.settimeout(5)
        with suppress(ConnectionResetError):
            assert raw.recv(1000) == b""


def test_who_computes_for_long_is_not_cut_off() -> None:
    page = explorer("mkn", header_seconds=0.2)
    waiting = Waiting(page)
    threading.Timer(0.8, waiting.free.set).start()
    with client_of(page) as client:
        assert client.get("/api/word?model=0&word=a").status_code == 200


def test_garbage_does_not_stop_the_server() -> None:
    with running(explorer("mkn")) as address:
        for garbage in (
            b"\0\xff\r\n\r\n",
            b"GET / HTTP/9.9\r\n\r\n",
            b"POST /api/sentence HTTP/1.1\r\n",
            b"A" * 100_000,
        ):
            with _connected(address) as raw:
                raw.sendall(garbage)
        assert httpx.get(f"{address}/api/models").status_code == 200


def _connected(address: str) -> socket.socket:
    host, port = address.removeprefix("http://").split(":")
    return socket.create_connection((host, int(port)), timeout=30)


def _request(address: str, line: str, *headers: str) -> bytes:
    host = address.removeprefix("http://")
    lines = [f"{line} HTTP/1.1", f"Host: {host}", "Content-Type: application/json", *headers]
    return "\r\n".join([*lines, "", ""]).encode()


class Waiting:
    """Stands in for an operation: waits until it may go on."""

    def __init__(self, page: Explorer) -> None:
        self.free, self.running, self.most = threading.Event(), 0, 0
        self._lock, self._word = threading.Lock(), page.word
        page.word = self  # type: ignore[method-assign, assignment]

    def __call__(self, *arguments: Any) -> Any:
        with self._lock:
            self.running += 1
            self.most = max(self.most, self.running)
        self.free.wait(30)
        with self._lock:
            self.running -= 1
        return self._word(*arguments)


def test_only_so_many_are_answered_at_a_time() -> None:
    page = explorer("mkn", concurrent=2, patience=0.2)
    waiting = Waiting(page)
    with running(page) as address, ThreadPoolExecutor(5) as threads:
        asked = [threads.submit(httpx.get, f"{address}/api/word?model=0&word=a", timeout=30) for _ in range(5)]
        for response in _completed(asked, 3):
            assert_error(response, 503, "other requests are being answered")
            assert response.headers["retry-after"] == "1"
        assert httpx.get(f"{address}/api/models").status_code == 200  # what needs no turn
        waiting.free.set()
        assert sorted(future.result().status_code for future in asked) == [200, 200, 503, 503, 503]
        assert waiting.most == 2
        assert httpx.get(f"{address}/api/word?model=0&word=a").status_code == 200


def _completed(futures: list[Any], count: int) -> list[Any]:
    deadline = Deadline.after(30)
    while len(done := [future.result() for future in futures if future.done()]) < count:
        deadline.check()
        time.sleep(0.01)
    return done


def test_who_waits_a_moment_gets_a_turn() -> None:
    page = explorer("mkn", concurrent=1, patience=20)
    waiting = Waiting(page)
    with running(page) as address, ThreadPoolExecutor(3) as threads:
        asked = [threads.submit(httpx.get, f"{address}/api/word?model=0&word=a", timeout=30) for _ in range(3)]
        time.sleep(0.2)
        waiting.free.set()
        assert [future.result().status_code for future in asked] == [200] * 3
        assert waiting.most == 1


def test_an_answer_that_takes_too_long() -> None:
    """Its thread is busy until it ends; then others have their turn."""
    page = explorer("mkn", concurrent=1, seconds=0.2, patience=0.1)
    waiting = Waiting(page)
    with running(page) as address:
        word = f"{address}/api/word?model=0&word=a"
        assert_error(httpx.get(word), 504, "this takes more than 0.2 seconds")
        assert_error(httpx.get(word), 503, "other requests")
        waiting.free.set()
        deadline = Deadline.after(20)
        while httpx.get(word).status_code != 200:
            deadline.check()
        assert waiting.most == 1


def test_a_long_comparison_ends_itself() -> None:
    page = explorer("mkn", "lbl", seconds=0.05)
    text = "domy školu ulicou\n" * 20_000
    with client_of(page) as client:
        started = time.monotonic()
        body = {"baseline": "0", "other": "1", "text": text, "text_is": "raw"}
        assert_error(client.post("/api/compare", json=body), 504, "this takes more than 0.05 seconds")
        assert time.monotonic() - started < 10


def test_nothing_of_the_operations_opens_a_file(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is named; the pages were read when the application was made."""
    page = explorer("mkn", "clbl++")
    page.warm()
    with client_of(page) as client:
        opened: list[Any] = []
        monkeypatch.setattr("builtins.open", lambda *arguments, **more: opened.append(arguments))
        monkeypatch.setattr(Path, "open", lambda *arguments, **more: opened.append(arguments))
        monkeypatch.setattr("os.open", lambda *arguments, **more: opened.append(arguments))
        client.get("/")
        for name in ("/etc/passwd", "../clbl++", "-", "file:///etc/passwd", "clbl++"):
            client.get("/api/word", params={"model": name, "word": name})
            client.get("/api/morpheme", params={"model": 1, "name": name})
            client.post("/api/sentence", json={"text": name, "models": [name]})
            client.post("/api/compare", json={"baseline": "mkn", "other": name, "text": name})
        monkeypatch.undo()
        assert opened == []

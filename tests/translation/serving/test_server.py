"""The translation server: what it answers, to whom, and what it refuses."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import httpx
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from morphlm.errors import InputError
from morphlm.report.explorer.guard import HEADERS
from morphlm.report.explorer.serving import bind
from morphlm.translation import TranslationQuery, TranslationSystem, Translator
from morphlm.translation.serving.operations import LIMITS
from morphlm.translation.serving.server import make_server
from morphlm.translation.system.building import NamedModel, Sources, build_system
from morphlm.translation.system.config import SystemConfig
from tests.conftest import Outcome

from ..generated import sentences, small_system, write

Command = Callable[..., Outcome]
TEXT = "the noun1s verb3 the noun2."


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A system of tokenised text, so that what is sent has to be prepared and put together again."""
    folder = tmp_path_factory.mktemp("serving")
    small_system(folder, count=100)
    texts = write(folder, "train", sentences(100, 1))
    models = [NamedModel("mkn", folder / "mkn")]
    config = SystemConfig(("en", "es")).with_decoder(pop_limit=20)
    build_system(folder / "tokenised", Sources(*texts, models=models), config, threads=1)
    return folder / "tokenised"


@pytest.fixture(scope="module")
def system(place: Path) -> TranslationSystem:
    return TranslationSystem.load(place)


@contextmanager
def client_of(translator: Translator) -> Iterator[httpx.Client]:
    bound = bind(0)
    port = bound.getsockname()[1]
    server = make_server(translator, port)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", timeout=30) as client:
            yield client
    finally:
        server.should_exit = True
        thread.join(10)
        bound.close()


@pytest.fixture(scope="module")
def client(system: TranslationSystem) -> Iterator[httpx.Client]:
    with client_of(Translator(system)) as made:
        yield made


def limited(system: TranslationSystem, **limits: Any) -> Translator:
    return Translator(system, replace(LIMITS, **limits))


def assert_error(response: httpx.Response, status: int, what: str) -> None:
    assert response.status_code == status
    assert list(response.json()) == ["error"] and what in response.json()["error"]
    assert {name: response.headers[name] for name in HEADERS} == HEADERS


# ---------------------------------------------------------------- answers


def test_raw_text_is_translated_as_by_the_system(client: httpx.Client, system: TranslationSystem) -> None:
    response = client.post("/api/translate", json={"text": f"{TEXT.title()}\n\nthe noun2.", "kbest": 2})
    assert response.status_code == 200 and {name: response.headers[name] for name in HEADERS} == HEADERS
    answer, expected = response.json(), system.translate(TEXT)
    assert answer["text"] == f"{system.translate_text(TEXT)}\n\n{system.translate_text('the noun2.')}"
    first, empty, _ = answer["sentences"]
    assert first["source"] == ["the", "noun1s", "verb3", "the", "noun2", "."] and first["reachable"] is True
    assert first["text"] == system.translate_text(TEXT) and first["text"].endswith(expected.tokens[-2] + ".")
    assert first["tokens"] == list(expected.tokens) and first["score"] == expected.score
    assert first["links"] == [list(link) for link in expected.links]
    assert [one["score"] for one in first["kbest"]] == [one.score for one in expected.kbest(2)]
    assert first["kbest"][0]["features"] == expected.features
    assert (empty["text"], empty["tokens"], len(empty["kbest"])) == ("", [], 1)
    view = Translator(system).translate(TranslationQuery(f"{TEXT.title()}\n\nthe noun2.", kbest=2))
    assert answer == json.loads(json.dumps(asdict(view)))


def test_constraints(client: httpx.Client, system: TranslationSystem) -> None:
    best = system.translate(TEXT)
    body = {"text": TEXT, "prefix": best.tokens[0][:-1], "incomplete": True}
    begun = client.post("/api/translate", json=body).json()["sentences"][0]
    assert begun["reachable"] and begun["tokens"][0].startswith(best.tokens[0][:-1])
    forced = client.post("/api/translate", json={"text": TEXT, "target": system.translate_text(TEXT).upper()}).json()
    assert forced["sentences"][0]["score"] == pytest.approx(best.score, abs=1e-6)
    missing = client.post("/api/translate", json={"text": TEXT, "prefix": "nothing like it"}).json()
    assert missing["text"] == "" and missing["sentences"][0] | {"source": []} == {
        "source": [],
        "reachable": False,
        "text": None,
        "tokens": [],
        "score": None,
        "links": [],
        "kbest": [],
    }


def test_the_system_describes_itself(client: httpx.Client, system: TranslationSystem) -> None:
    view = client.get("/api/system").json()
    assert (view["source_language"], view["target_language"], view["models"]) == ("en", "es", ["mkn"])
    assert view["weights"] == system.weights
    described = client.get("/api/openapi.json").json()
    assert list(described["paths"]) == ["/api/system", "/api/translate"]
    for methods in described["paths"].values():
        for operation in methods.values():
            assert operation["description"] and {"200", "400", "413", "422", "503"} <= set(operation["responses"])


def test_markup_is_text_and_names_no_file(client: httpx.Client, monkeypatch: pytest.MonkeyPatch) -> None:
    opened: list[Any] = []
    monkeypatch.setattr("builtins.open", lambda *arguments, **more: opened.append(arguments))
    monkeypatch.setattr("os.open", lambda *arguments, **more: opened.append(arguments))
    for text in ('<seg grammar="/etc/passwd" id="0">the noun2.</seg>', "/etc/passwd", "-", "file:///etc/passwd"):
        assert client.post("/api/translate", json={"text": text}).status_code == 200
    monkeypatch.undo()
    assert opened == []


# ---------------------------------------------------------------- what is refused


@pytest.mark.parametrize(
    ("body", "status", "what"),
    [
        (b"", 422, "Field required"),
        (b"{", 422, "the body is no object in JSON"),
        (b"{}", 422, "text: Field required"),
        (b'{"text": 1}', 422, "text: Input should be a valid string"),
        (b'{"text": "a", "grammar": "/etc/passwd"}', 422, "grammar: Extra inputs are not permitted"),
        (b'{"text": "a", "kbest": 1.5}', 422, "kbest: "),
        (b'{"text": "a", "kbest": -1}', 400, "-1 answers"),
        (b'{"text": "a", "kbest": 101}', 400, "ask for 0 to 100"),
        (b'{"text": "a\\u0000"}', 400, "NUL"),
        (b'{"text": "\\ud800"}', 400, "half of a pair"),
        (b'{"text": "a", "prefix": "\\ud800"}', 400, "half of a pair"),
        (b'{"text": "a", "prefix": "a", "target": "b"}', 400, "two constraints"),
        (b'{"text": "a", "incomplete": true}', 400, "incomplete is about a prefix"),
        (b'{"text": "a\\nb", "prefix": "a"}', 400, "for one line"),
    ],
)
def test_bad_bodies(body: bytes, status: int, what: str, client: httpx.Client) -> None:
    response = client.post("/api/translate", content=body, headers={"Content-Type": "application/json"})
    assert_error(response, status, what)


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(), st.lists))
@settings(max_examples=15)
def test_whatever_is_sent_is_answered_with_one_kind_of_error(client: httpx.Client, content: Any) -> None:
    body = json.dumps(content).encode()
    response = client.post("/api/translate", content=body, headers={"Content-Type": "application/json"})
    assert response.status_code == 422 and list(response.json()) == ["error"]


def test_other_pages_names_and_addresses_are_refused(client: httpx.Client) -> None:
    for headers in ({"Origin": "http://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        response = client.post("/api/translate", json={"text": "a"}, headers=headers)
        assert_error(response, 403, "does not answer to other pages")
    assert_error(client.get("/api/system", headers={"Host": "evil.example"}), 403, "answers only to http://127.0.0.1:")
    for address in ("/", "/api", "/api/docs", "/../etc/passwd"):
        assert_error(client.get(address), 404, "there is nothing at this address; see /api/openapi.json")
    assert_error(client.get("/api/translate"), 405, "does not take GET; see /api/openapi.json")


def test_limits(system: TranslationSystem) -> None:
    with client_of(
        limited(system, body_bytes=2000, sentence_tokens=10, text_sentences=3, line_characters=500)
    ) as client:
        assert_error(client.post("/api/translate", json={"text": "a\nb\nc\nd"}), 400, "4 lines; send at most 3 at once")
        assert client.post("/api/translate", json={"text": "a\nb\r\nc\n"}).status_code == 200
        assert_error(client.post("/api/translate", json={"text": "b\n" + "a " * 11}), 400, "line 2 has 11 words")
        long_prefix = {"text": "a", "prefix": "a " * 11}
        assert_error(client.post("/api/translate", json=long_prefix), 400, "the prefix has 11 words")
        assert_error(client.post("/api/translate", json={"text": "a" * 501}), 400, "line 1 of 501 characters")
        large = client.post("/api/translate", json={"text": "a" * 2000})
        assert_error(large, 413, "send less, or use `morphlm translate decode` on a file")


def test_a_long_text_ends_itself_and_others_wait(system: TranslationSystem) -> None:
    translator = limited(system, seconds=0.02, patience=0.01, concurrent=1)
    text = "\n".join([TEXT] * 200)
    with client_of(translator) as client:
        response = client.post("/api/translate", json={"text": text})
        assert_error(response, 504, "this takes more than 0.02 seconds")
        deadline = time.monotonic() + 20
        while (response := client.post("/api/translate", json={"text": ""})).status_code != 200:
            assert response.status_code in (503, 504) and time.monotonic() < deadline


def test_the_operations_refuse_without_http(system: TranslationSystem) -> None:
    with pytest.raises(InputError, match="send one line"):
        Translator(system).translate(TranslationQuery("a\nb", target="x"))
    assert (
        repr(Translator(system)).startswith("Translator(system=TranslationSystem(")
        and len(repr(Translator(system))) < 200
    )


# ---------------------------------------------------------------- the command


def test_the_command_serves_until_it_is_interrupted(place: Path) -> None:
    command = [sys.executable, "-m", "morphlm", "translate", "serve", str(place), "--port", "0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        assert address.startswith("http://127.0.0.1:")
        answer = httpx.post(f"{address}api/translate", json={"text": TEXT}, timeout=30).json()
        assert len(answer["sentences"]) == 1
        process.send_signal(signal.SIGINT)
        process.wait(30)
        assert process.returncode in (0, 130)


def test_what_cannot_work_is_one_line(place: Path, morphlm_command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    outcome = morphlm_command("translate", "serve", place / "nothing")
    assert outcome.status == 2 and "Traceback" not in outcome.stderr
    with bind(0) as bound:
        outcome = morphlm_command("translate", "serve", place, "--port", str(bound.getsockname()[1]))
    assert outcome.status == 2 and "choose another by --port" in outcome.stderr
    outcome = morphlm_command("translate", "serve", place, "--run", "1", "--weights", "Glue=1")
    assert outcome.status == 2 and "give one" in outcome.stderr
    monkeypatch.delitem(sys.modules, "morphlm.report.explorer.serving", raising=False)
    monkeypatch.setitem(sys.modules, "fastapi", None)
    outcome = morphlm_command("translate", "serve", place, "--port", "0")
    assert outcome.status == 2 and "the translation server needs fastapi, which is not installed" in outcome.stderr

import json
import sys
import types
from pathlib import Path
from typing import Any

import pytest

from morphlm.errors import ConfigError, FormatError, InputError
from morphlm.files import sha256_of
from morphlm.text.datasets import get_dataset, list_datasets, read_folder
from morphlm.text.datasets.folder import part_of


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """A stand-in for the generator that logs (sentences, seed)."""
    log: list[tuple[int, int]] = []

    def write_generated(directory: Path, *, sentences: int, seed: int) -> None:
        log.append((sentences, seed))
        for part in ("train", "dev", "test"):
            for language in ("gen", "en"):
                (directory / f"{part}.{language}.txt").write_text(f"{language} {seed}\n" * sentences, encoding="utf-8")
        (directory / "segmentation.tsv").write_text("a\tb\n", encoding="utf-8")

    module = types.ModuleType("morphlm_generated")
    module.write_generated = write_generated  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    return log


def test_generated_is_described_with_hashes_and_counts(calls: list[tuple[int, int]], tmp_path: Path) -> None:
    folder = get_dataset("generated", tmp_path / "out", sentences=5, seed=9)
    assert calls == [(5, 9)]
    described = json.loads((tmp_path / "out" / "dataset.json").read_bytes())
    assert (described["name"], described["languages"]) == ("generated", ["gen", "en"])
    assert described["options"] == {"seed": 9, "sentences": 5}
    path = folder.path("dev", "en")
    assert described["files"]["dev.en.txt"] == {"sha256": sha256_of(path), "lines": 5, "words": 10}
    assert sorted(described["files"]) == sorted(x.name for x in (tmp_path / "out").iterdir() if x.suffix != ".json")
    assert read_folder(tmp_path / "out").files == folder.files
    with pytest.raises(InputError, match=r"no dev\.cs\.txt in this data set"):
        folder.path("dev", "cs")


def test_the_same_data_set_is_used_again_and_any_other_folder_refused(
    calls: list[tuple[int, int]], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    out.mkdir()  # an empty folder is free
    assert not get_dataset("generated", out, sentences=2).reused
    assert get_dataset("generated", out, sentences=2, parallel="en", language="gen").reused
    assert calls == [(2, 1)]
    for change in ({"seed": 2}, {"sentences": 3}):
        with pytest.raises(InputError, match=r"another data set \(generated, gen-en, seed 1, sentences 2\); choose"):
            get_dataset("generated", out, **{"sentences": 2, **change})  # type: ignore[arg-type]
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.txt").write_text("precious", encoding="utf-8")
    with pytest.raises(InputError, match="is not a data set"):
        get_dataset("generated", tmp_path / "other")
    with pytest.raises(InputError, match="is not a data set"):
        get_dataset("generated", tmp_path / "other" / "thesis.txt")
    with pytest.raises(InputError, match="cannot write here"):
        get_dataset("generated", tmp_path / "other" / "thesis.txt" / "deeper")
    assert len(calls) == 1


def test_a_damaged_data_set_is_refused_naming_the_file(calls: list[tuple[int, int]], tmp_path: Path) -> None:
    out = tmp_path / "out"
    get_dataset("generated", out, sentences=2)
    text = out / "test.gen.txt"
    good = text.read_bytes()
    text.write_bytes(good[:-1] + b" ")
    with pytest.raises(FormatError, match=r"test\.gen\.txt: it was changed"):
        get_dataset("generated", out, sentences=2)
    text.unlink()
    with pytest.raises(FormatError, match=r"test\.gen\.txt: the file is missing"):
        get_dataset("generated", out, sentences=2)
    for content in (b"", b"[]", b"{}", b'{"format": 1, "name": 2}', b"\xff"):
        (out / "dataset.json").write_bytes(content)
        with pytest.raises(FormatError, match=r"dataset\.json: not a description"):
            read_folder(out)
    (out / "dataset.json").write_bytes(b"[" * 100_000)
    with pytest.raises(FormatError, match=r"dataset\.json: not a description"):
        read_folder(out)
    (out / "dataset.json").write_bytes(b'{"format": 99}')
    with pytest.raises(FormatError, match="format 99, this morphlm reads 1"):
        read_folder(out)


@pytest.mark.parametrize(
    "change",
    [
        *({"languages": value} for value in ("gen", 3, [1], None)),
        *({"name": 1}, {"licence": None}, {"options": []}, {"source": "x"}, {"files": []}),
        *({"files": {name: {"sha256": "", "lines": 1, "words": 1}}} for name in ("..", "/dev/zero", "a/b", "x" * 300)),
        *({"files": {"a": {"sha256": "", "lines": value, "words": 1}}} for value in ("1", None, True)),
        {"files": {"a": {"sha256": 1, "lines": 1, "words": 1}}},
    ],
    ids=str,
)
def test_a_description_with_something_else_in_a_field_is_refused(
    calls: list[tuple[int, int]], tmp_path: Path, change: dict[str, Any]
) -> None:
    get_dataset("generated", tmp_path / "out", sentences=2)
    path = tmp_path / "out" / "dataset.json"
    path.write_text(json.dumps(json.loads(path.read_bytes()) | change))
    with pytest.raises(FormatError):
        read_folder(tmp_path / "out")


def test_an_interrupted_run_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = types.ModuleType("morphlm_generated")

    def interrupted(directory: Path, **_: int) -> None:
        (directory / "train.gen.txt").write_text("half", encoding="utf-8")
        raise KeyboardInterrupt

    module.write_generated = interrupted  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    with pytest.raises(KeyboardInterrupt):
        get_dataset("generated", tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


BAD_REQUESTS = [
    (("no-such-set",), {}, r"neither a data set \(libreoffice-help, wmt13, generated\) nor a file"),
    (("wmt13",), {}, "the language of the text is missing; give language=, one of cs, de, en, es, fr, ru"),
    (("wmt13",), {"language": "fi"}, "wmt13 has no text in 'fi'"),
    (("wmt13",), {"language": "cs", "parallel": "de"}, "no cs-de; parallel= can be en"),
    (("wmt13",), {"language": "cs", "sentences": 3}, "sentences= is no option of wmt13"),
    (("wmt13",), {"language": "cs", "part": "data-2m"}, "choose data-1m or data-main"),
    (("wmt13",), {"language": "cs", "add_parallel": Path("x")}, "add_parallel= needs parallel="),
    (("wmt13",), {"language": "cs", "parallel": "en", "add": Path("x")}, "add= and add_parallel= go together"),
    (("generated",), {"language": "cs"}, "generated has no text in 'cs'"),
    ((__file__,), {"language": "../cs"}, "not a language code"),
    ((__file__,), {"language": "cs", "parallel": "cs", "parallel_path": Path(__file__)}, "the text itself"),
]


@pytest.mark.parametrize(("arguments", "options", "message"), BAD_REQUESTS)
def test_bad_requests(arguments: tuple[str], options: dict[str, object], message: str, tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=message):
        get_dataset(*arguments, tmp_path / "out", **options)  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_the_default_is_listed_first() -> None:
    assert [entry.name for entry in list_datasets()] == ["libreoffice-help", "wmt13", "generated"]


def test_pages_are_dealt_out_by_name_and_seed_in_the_promised_shares() -> None:
    parts = [part_of(f"text/{i}.html", 1) for i in range(20_000)]
    # Binomial with n = 20,000 and p = 0.05: the bound is five standard deviations (31 each).
    assert abs(parts.count("dev") - 1000) < 155
    assert abs(parts.count("test") - 1000) < 155
    assert [part_of("a", 1), part_of("a", 1)] == ["train", "train"]
    assert parts != [part_of(f"text/{i}.html", 2) for i in range(20_000)]

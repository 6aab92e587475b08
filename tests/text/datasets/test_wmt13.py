import gzip
from collections import deque
from pathlib import Path
from typing import Any

import pytest

from morphlm.errors import InputError
from morphlm.text.datasets import DataFolder, get_dataset, wmt13
from morphlm.text.datasets.download import Patience
from morphlm.text.datasets.wmt13 import first_words, hold_back

from .bad_server import Site, serving
from .fake_packages import tar_of


def tgz(files: dict[str, str]) -> bytes:
    return gzip.compress(tar_of(files), mtime=0)


def sgm(*segments: str) -> str:
    body = "".join(f'<seg id="{number}">{text}</seg>\n' for number, text in enumerate(segments, 1))
    return f'<srcset setid="x"><doc docid="d"><p>\n{body}</p></doc></srcset>\n'


RUSSIAN = [f"Русский  {number}" for number in range(10)]


def archives() -> dict[str, bytes]:
    europarl = {
        "training/europarl-v7.cs-en.cs": "První věta.\n\nTřetí\u00a0věta.\nbez anglické\n",
        "training/europarl-v7.cs-en.en": "First sentence.\nsecond without Czech\nThird sentence.\n \n",
        "training/europarl-v7.de-en.de": "deutsch\n",
    }
    news = {
        "training/news-commentary-v8.cs-en.cs": "Zpráva jedna dvě.\nPoslední.\n",
        "training/news-commentary-v8.cs-en.en": "News one two.\nLast.\n",
        "training/news-commentary-v8.ru-en.ru": "".join(f"{line}\n" for line in RUSSIAN),
        "training/news-commentary-v8.ru-en.en": "".join(f"English {number}\n" for number in range(10)),
    }
    dev = {
        f"dev/newstest{year}.{language}": f"{language} {year}\n" for year in (2011, 2012) for language in ("cs", "en")
    }
    dev["dev/newstest2012-src.ru.sgm"] = sgm("ru &amp; 2012")
    test = {f"test/newstest2013-src.{language}.sgm": sgm(f"{language}  2013", "b") for language in ("cs", "en", "ru")}
    named = {wmt13.EUROPARL: europarl, wmt13.NEWS: news, wmt13.DEV: dev, wmt13.TEST: test}
    return {name: tgz(files) for name, files in named.items()}


def get(site: Site, folder: Path, **options: Any) -> DataFolder:
    patience = Patience(attempts=2, first_pause=0.001, timeout=5)
    return get_dataset("wmt13", folder / "out", cache=folder / "cache", base=site.address, patience=patience, **options)


def lines(folder: DataFolder, part: str, language: str) -> list[str]:
    return folder.path(part, language).read_text(encoding="utf-8").splitlines()


def test_the_papers_splits_for_czech(tmp_path: Path) -> None:
    with serving(Site(archives(), cut_after=[40, 60])) as site:
        folder = get(site, tmp_path, language="cs", parallel="en", part="data-main")
    assert lines(folder, "train", "cs") == ["První věta.", "Třetí věta.", "Zpráva jedna dvě.", "Poslední."]
    assert lines(folder, "train", "en") == ["First sentence.", "Third sentence.", "News one two.", "Last."]
    assert lines(folder, "dev", "cs") == ["cs 2011"]
    assert lines(folder, "test", "en") == ["en 2012"]
    assert lines(folder, "test2013", "cs") == ["cs 2013", "b"]
    assert folder.options == {"part": "data-main", "added": {}}
    received = folder.source["files"][wmt13.EUROPARL]
    assert received["size"] == len(archives()[wmt13.EUROPARL])
    assert site.address not in (tmp_path / "out" / "dataset.json").read_text(encoding="utf-8")
    assert sorted(path.name for path in (tmp_path / "cache").iterdir()) == sorted(
        name for archive in archives() for name in (archive, f"{archive}.json")
    )


def test_english_is_the_english_side_of_czech(tmp_path: Path) -> None:
    with serving(Site(archives())) as site:
        folder = get(site, tmp_path, language="en", part="data-main")
    assert lines(folder, "train", "en") == ["First sentence.", "Third sentence.", "News one two.", "Last."]
    assert lines(folder, "dev", "en") == ["en 2011"]


def test_data_1m_ends_with_the_line_that_reaches_the_number_of_words(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(wmt13, "WORDS_OF_1M", 5)
    with serving(Site(archives())) as site:
        folder = get(site, tmp_path, language="cs")
    assert lines(folder, "train", "cs") == ["První věta.", "Třetí věta.", "Zpráva jedna dvě."]


def test_russian_holds_out_its_dev_and_needs_no_europarl(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(wmt13, "RUSSIAN_DEV_PAIRS", 3)
    monkeypatch.setattr(wmt13, "WORDS_OF_1M", 4)
    with serving(Site(archives())) as site:
        folder = get(site, tmp_path, language="ru", parallel="en")
    assert lines(folder, "train", "ru") == ["Русский 0", "Русский 1"]
    assert lines(folder, "dev", "ru") == ["Русский 7", "Русский 8", "Русский 9"]
    assert lines(folder, "dev", "en") == ["English 7", "English 8", "English 9"]
    assert lines(folder, "test", "ru") == ["ru & 2012"]
    assert f"/{wmt13.EUROPARL}" not in [path for path, _ in site.requests]
    assert "Yandex" in capsys.readouterr().err


def test_added_text_comes_last_and_leaves_dev_as_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(wmt13, "RUSSIAN_DEV_PAIRS", 3)
    (tmp_path / "yandex.ru").write_text("ещё одна\n", encoding="utf-8")
    with serving(Site(archives())) as site:
        folder = get(site, tmp_path, language="ru", part="data-main", add=tmp_path / "yandex.ru")
    assert lines(folder, "train", "ru") == [*(" ".join(line.split()) for line in RUSSIAN[:7]), "ещё одна"]
    assert lines(folder, "dev", "ru")[-1] == "Русский 9"
    assert list(folder.options["added"]) == ["text: yandex.ru"]
    assert "Yandex" not in capsys.readouterr().err
    with pytest.raises(InputError, match=r"nowhere\.ru: there is no such file"):
        get(site, tmp_path, language="ru", add=tmp_path / "nowhere.ru")


def test_a_second_run_uses_the_folder_and_another_language_the_cache(tmp_path: Path) -> None:
    with serving(Site(archives())) as site:
        assert not get(site, tmp_path, language="cs").reused
        assert get(site, tmp_path, language="cs").reused
        (tmp_path / "out").rename(tmp_path / "cs")
        get(site, tmp_path, language="en")
    assert len(site.requests) == 4


def refused(site: Site, folder: Path, message: str) -> None:
    with serving(site), pytest.raises(InputError, match=message):
        get(site, folder, language="cs")
    assert [path.name for path in folder.iterdir()] == ["cache"]
    assert not [path for path in (folder / "cache").iterdir() if path.is_dir()]


def test_what_cannot_be_mended_is_one_line_and_leaves_no_data(tmp_path: Path) -> None:
    site = Site(archives())
    refused(Site({}), tmp_path, "404")
    refused(Site({wmt13.EUROPARL: b"<html>"}), tmp_path, "a web page")
    refused(Site({wmt13.EUROPARL: site.files[wmt13.EUROPARL][:-3]}), tmp_path, "damaged")
    refused(Site({**site.files, wmt13.EUROPARL: gzip.compress(b"not a tar" * 99)}), tmp_path, "not a whole tar archive")
    for name in (wmt13.EUROPARL, wmt13.TEST):
        (tmp_path / "cache" / name).unlink()
        (tmp_path / "cache" / f"{name}.json").unlink()
    refused(Site({**site.files, wmt13.TEST: tgz({"x": "y"})}), tmp_path, r"have no newstest2013\.cs")


def test_sides_of_different_length_are_refused(tmp_path: Path) -> None:
    pair = {"t/news-commentary-v8.cs-en.cs": "a\nb\n", "t/news-commentary-v8.cs-en.en": "a\n"}
    refused(Site({**archives(), wmt13.NEWS: tgz(pair)}), tmp_path, r"news-commentary-v8\.cs-en\.en:2: the file ends")


def test_first_words_and_holding_back() -> None:
    pairs = [("a b",), ("c",), ("d e",), ("f",)]
    assert list(first_words(pairs, 3)) == pairs[:2]
    assert list(first_words(pairs, float("inf"))) == pairs
    held: deque[tuple[str, ...]] = deque(maxlen=3)
    assert list(hold_back(iter(pairs), held)) == pairs[:1]
    assert list(held) == pairs[1:]
    assert list(hold_back(iter(pairs), deque(maxlen=0))) == pairs


def test_a_line_that_is_not_utf8_is_named(tmp_path: Path) -> None:
    (tmp_path / "more.txt").write_bytes(b"good\nbad \xff\n")
    with serving(Site(archives())) as site, pytest.raises(InputError, match=r"more\.txt:2: this line is not UTF-8"):
        get(site, tmp_path, language="cs", part="data-main", add=tmp_path / "more.txt")
    assert not (tmp_path / "out").exists()

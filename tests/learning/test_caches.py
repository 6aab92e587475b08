"""`learn` tries caches: kept where the text before a sentence tells something, left out where it does not."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import morphlm
from morphlm import ConfigError, load
from morphlm.learning.commands import mixed_models
from morphlm.learning.learn import learn
from morphlm.learning.learned import Learned
from morphlm.learning.plan import Plan
from morphlm.learning.schema import CACHES
from morphlm.scoring.caching import add_cache
from tests.conftest import Outcome
from tests.learning.conftest import FEW_STEPS
from tests.learning.small import ENDINGS, model_bytes, record_of

pytestmark = pytest.mark.usefixtures("few_steps", "no_report")
STEMS = tuple(a + b + c for a in ("bro", "kle", "šta", "dri", "mu") for b in ("ch", "z", "pl", "nk", "v") for c in
              ("at", "in", "ob", "ul", "er", "ys"))  # fmt: skip
ARTICLE, TOPIC = 10, 4  # sentences about so many stems


def sentence(rng: np.random.Generator, stems: Sequence[str]) -> str:
    """Words that agree in their ending, which morphemes tell and pairs of words do not."""
    ending = ENDINGS[rng.integers(len(ENDINGS))]
    return " ".join(stem + ending for stem in stems)


def articles(count: int, seed: int) -> Iterator[str]:
    """Each has stems of its own, which come again and again, in other forms too."""
    rng = np.random.default_rng(seed)
    for _ in range(count):
        topic = rng.choice(STEMS, TOPIC, replace=False)
        yield from (sentence(rng, rng.choice(topic, 5).tolist()) for _ in range(ARTICLE))


def unrelated(count: int, seed: int) -> Iterator[str]:
    """Sentences that tell nothing of each other."""
    rng = np.random.default_rng(seed)
    yield from (sentence(rng, rng.choice(STEMS, 5).tolist()) for _ in range(count))


def every_stem_once(seed: int) -> Iterator[str]:
    """A text in which nothing comes again."""
    rng = np.random.default_rng(seed)
    shuffled = rng.permutation(STEMS).tolist()
    yield from (sentence(rng, shuffled[k : k + 5]) for k in range(0, len(shuffled), 5))


def write_parts(folder: Path, train: Iterator[str], dev: Iterator[str], test: Iterator[str]) -> dict[str, Path]:
    paths = {}
    for name, lines in (("train", train), ("dev", dev), ("test", test)):
        paths[name] = folder / f"{name}.txt"
        paths[name].write_text("".join(f"{line}\n" for line in lines))
    return paths


def topical(folder: Path) -> dict[str, Path]:
    return write_parts(folder, articles(60, 1), articles(8, 2), articles(8, 3))


def learn_parts(parts: dict[str, Path], out: Path, **options: Any) -> Learned:
    return learn(parts["train"], out, dev=parts["dev"], test=parts["test"], prepared=True, language="cs", **options)


def learn_topical(folder: Path, **changes: Any) -> Path:
    """A directory that was learned from the text with topics; the report is left out, as it takes long."""
    with pytest.MonkeyPatch.context() as patch:
        for name, value in changes.items():
            patch.setattr(f"morphlm.learning.finishing.{name}", value)
        patch.setattr("morphlm.learning.search.LADDERS", FEW_STEPS)
        patch.setattr("morphlm.learning.choices.LADDERS", FEW_STEPS)
        patch.setattr("morphlm.learning.finishing.write_report", lambda scored, out: out.write_text("<p></p>"))
        patch.chdir(folder)
        learn_parts(topical(Path()), Path("out"))
    return folder / "out"


@pytest.fixture(scope="module")
def with_caches(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the caches that were chosen."""
    return learn_topical(tmp_path_factory.mktemp("topical"))


@pytest.fixture(scope="module")
def with_both(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With both caches, whatever they gain."""
    return learn_topical(tmp_path_factory.mktemp("both"), SURE=-1e9)


# ---------------------------------------------------------------- kept or left out


def test_they_are_kept_where_words_come_again(with_caches: Path) -> None:
    record, model = record_of(with_caches), load(with_caches)
    result = record.result
    assert result is not None and result.caches is not None and "neural-cache" in result.caches
    assert [part.kind for part in model.parts] == list(mixed_models(result.caches))
    figures = result.perplexities
    assert list(figures) == ["mkn", "clbl++", "mixture", "mixture+caches", "mkn+cache"]
    assert figures["mixture+caches"].test < 0.85 * figures["mixture"].test
    assert figures["mixture+caches"].test < figures["mkn+cache"].test < figures["mkn"].test
    assert result.figures == figures["mixture+caches"]
    for part, figure in (("dev", result.figures.development), ("test", result.figures.test)):
        assert model.perplexity(with_caches / "text" / f"{part}.txt").including_unknown == pytest.approx(figure)


def test_what_they_gain_is_said_apart(with_both: Path) -> None:
    record = record_of(with_both)
    assert record.result is not None
    figures = {name: entry.test for name, entry in record.result.perplexities.items()}
    lower, by_caches = 1 - figures["mixture"] / figures["mkn"], 1 - figures["mixture+caches"] / figures["mixture"]
    assert record.result.headline.startswith(
        f"{100 * lower:.0f} % lower perplexity than Kneser-Ney; caches lower it by another {100 * by_caches:.0f} %"
    )
    said = Learned(with_both, record).format().splitlines()
    assert said[1:3] == [
        f"Perplexity of the test text: Kneser-Ney {figures['mkn']:.1f}, CLBL++ {figures['clbl++']:.1f}, both mixed "
        f"{figures['mixture']:.1f}.",
        "With caches, which learn from the text before each sentence: "
        f"Kneser-Ney {figures['mkn+cache']:.1f}, both mixed {figures['mixture+caches']:.1f}.",
    ]
    assert said[3].endswith("classes; neural-cache and morpheme-cache.")
    assert "--continuous" in (with_both / "README.txt").read_text()


def test_they_are_left_out_where_nothing_comes_again(tmp_path: Path) -> None:
    """No word of the held-out texts comes twice, nor does a stem, so that a cache never holds the next word."""
    parts = write_parts(tmp_path, unrelated(800, 1), every_stem_once(2), every_stem_once(3))
    learned = learn_parts(parts, tmp_path / "out")
    result = learned.record.result
    assert result is not None and result.kind == "mixture" and result.caches == ()
    assert [part.kind for part in learned.model.parts] == ["mkn", "clbl++"]
    assert list(result.perplexities) == ["mkn", "clbl++", "mixture"] and len(result.commands) == 3
    assert "caches" not in result.headline and "--continuous" not in (tmp_path / "out" / "README.txt").read_text()
    assert "caches did not make it any better and were left out." in learned.format()


def test_without_them_nothing_is_tried(tmp_path: Path, with_caches: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("morphlm.learning.learn.add_cache", None)
    parts = topical(tmp_path)
    learned = learn_parts(parts, tmp_path / "out", caches=False)
    result = learned.record.result
    assert result is not None and result.caches is None and learned.record.settings["caches"] is False
    assert [part.kind for part in learned.model.parts] == ["mkn", "clbl++"]
    assert "cache" not in learned.format() + (tmp_path / "out" / "README.txt").read_text()
    both = record_of(with_caches).result
    assert both is not None and both.perplexities["mixture"] == result.figures  # all else is the same
    assert learn_parts(parts, tmp_path / "out", caches=False).was_complete
    with pytest.raises(ConfigError, match="caches True instead of False"):
        learn_parts(parts, tmp_path / "out")


def test_when_time_is_short_they_are_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Plan, "has_time_for_caches", lambda self, choice: False)
    result = learn_parts(topical(tmp_path), tmp_path / "out", minutes=5).record.result
    assert result is not None and result.caches is None and result.kind == "mixture"


# ---------------------------------------------------------------- the same again


def test_the_commands_on_record_repeat_it_to_the_byte(
    with_both: Path, monkeypatch: pytest.MonkeyPatch, morphlm_command: Callable[..., Outcome]
) -> None:
    monkeypatch.chdir(with_both.parent)
    result = record_of(with_both).result
    assert result is not None and result.caches == CACHES
    assert [command.split()[1:3] for command in result.commands] == [
        ["train", "mkn"],
        ["train", "clbl++"],
        ["cache", "again.clbl++"],
        ["train", "morpheme-cache"],
        ["mix", "again.mkn"],
    ]
    for command in result.commands:
        outcome = morphlm_command(*shlex.split(command)[1:])
        assert outcome.status == 0, outcome.stderr
    again = {path.relative_to("again.mixture"): path for path in Path("again.mixture").rglob("*") if path.is_file()}
    assert len(again) > 15
    for name, path in again.items():
        assert path.read_bytes() == (with_both / "model" / name).read_bytes(), name


def interrupt(*arguments: Any, **named: Any) -> Any:
    raise KeyboardInterrupt


def add_cache_and_interrupt(*arguments: Any, **named: Any) -> None:
    add_cache(*arguments, **named)
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    "place", ["learn.add_cache", "after the neural cache", "finishing._try_caches", "finishing._cached_kneser_ney"]
)
def test_interrupted_at_caches_it_goes_on_to_the_same_bytes(
    place: str, tmp_path: Path, with_caches: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    parts = topical(tmp_path)
    with pytest.MonkeyPatch.context() as patch:
        if place == "after the neural cache":
            patch.setattr("morphlm.learning.learn.add_cache", add_cache_and_interrupt)
        else:
            patch.setattr(f"morphlm.learning.{place}", interrupt)
        with pytest.raises(KeyboardInterrupt):
            learn_parts(parts, tmp_path / "out")
    if not place.endswith("add_cache"):
        monkeypatch.setattr("morphlm.learning.learn.add_cache", interrupt)  # it is not made again
    learn_parts(parts, tmp_path / "out")
    assert model_bytes(tmp_path / "out") == model_bytes(with_caches)


def test_a_directory_of_the_version_before_is_complete(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its record has neither caches nor figures of them."""
    parts = topical(tmp_path)
    learned = learn_parts(parts, tmp_path / "out", caches=False)
    path = tmp_path / "out" / "learn.json"
    content = json.loads(path.read_text())
    assert "caches" not in content["result"]
    del content["settings"]["caches"]
    path.write_text(json.dumps(content))
    monkeypatch.setattr("morphlm.learning.learn.Learning.run", interrupt)
    again = learn_parts(parts, tmp_path / "out")
    assert again.was_complete and again.record.result == learned.record.result
    assert learned.format() in again.format()
    assert load(tmp_path / "out").kind == "mixture"


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"caches": ["cache"]}, "caches"),
        ({"caches": ["morpheme-cache"], "perplexities": None}, "the figures of the model with caches are missing"),
    ],
)
def test_a_record_that_is_wrong_about_caches_is_refused(
    with_caches: Path, tmp_path: Path, change: dict[str, Any], message: str
) -> None:
    content = json.loads((with_caches / "learn.json").read_text())
    if "perplexities" in change:
        del content["result"]["perplexities"]["mixture+caches"]
    content["result"]["caches"] = change["caches"]
    (tmp_path / "learn.json").write_text(json.dumps(content))
    with pytest.raises(morphlm.FormatError, match=message):
        record_of(tmp_path)


# ---------------------------------------------------------------- every command takes it


def test_every_command_takes_the_directory(
    with_both: Path, tmp_path: Path, morphlm_command: Callable[..., Outcome]
) -> None:
    out, test = with_both, with_both / "text" / "test.txt"
    assert [part.kind for part in load(out).parts] == ["mkn", *CACHES]
    word = test.read_text().split()[0]
    lines = test.read_text().splitlines()[:4]
    (tmp_path / "kbest.txt").write_text("".join(f"{k} ||| {line} ||| 0\n" for k, line in enumerate(lines)))
    (tmp_path / "words.txt").write_text("brochatěnka\nxyz\n")
    for arguments in (
        ("ppl", out, test),
        ("score", out, test),
        ("score", out, test, "--continuous"),
        ("rescore", out, tmp_path / "kbest.txt", "--continuous"),
        ("predict", out, word),
        ("generate", out),
        ("neighbours", out, word),
        ("export", out, tmp_path / "words.vec"),
        ("export", out, tmp_path / "model.bin", "--format", "compiled"),
        ("extend", out, tmp_path / "words.txt", "--out", tmp_path / "extended"),
        ("report", out, "--test", test, "--out", tmp_path / "report.html"),
    ):
        outcome = morphlm_command(*arguments)
        assert outcome.status == 0, (arguments, outcome.stderr)
    fixed = morphlm_command("export", out, tmp_path / "fixed.bin", "--format", "compiled", "--after", test)
    assert fixed.status == 2 and "a neural cache cannot be compiled; leave --after out" in fixed.stderr
    model, larger = load(out), load(tmp_path / "extended")
    assert len(larger.vocabulary) == len(model.vocabulary) + 2
    compiled = load(tmp_path / "model.bin")
    expected = model.after_text([]).sentence(lines[0].split())
    assert compiled.sentence(lines[0].split()) == pytest.approx(expected, abs=1e-5)


def test_continuous_text_gains_by_them(with_both: Path, morphlm_command: Callable[..., Outcome]) -> None:
    test = with_both / "text" / "test.txt"
    scores = []
    for options in ([], ["--continuous"]):
        lines = morphlm_command("score", with_both, test, *options).stdout.splitlines()
        scores.append(sum(float(line.split()[0]) for line in lines))
    assert scores[1] > scores[0] + len(lines)


def test_the_model_alone_is_in_memory(tmp_path: Path, with_caches: Path) -> None:
    parts = topical(tmp_path)
    texts = {name: path.read_text().splitlines() for name, path in parts.items()}
    learned = learn([line.split() for line in texts["train"]], dev=parts["dev"], test=parts["test"], language="cs")
    assert learned.directory is None
    assert learned.model.parts[1].kind == "neural-cache"
    tokens = [line.split() for line in texts["test"]]
    assert learned.model.perplexity(tokens).including_unknown == pytest.approx(
        load(with_caches).perplexity(tokens).including_unknown
    )

"""The kinds of steps: how each is described, so that its key is known, and what it does.

`texts` prepares the texts of a language; `stages` makes vocabulary, morphemes and classes; `model` trains; `scores`
reads a test text with a model; `frequency`, `tags` and `similarity` are the analyses that need a model and not only its
scores. Those of translation are in translation_steps. Results are small and go to the store as JSON.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from morphlm.analysis.frequency import frequency_comparison
from morphlm.analysis.scores import score_sentences
from morphlm.analysis.tag_alignment import read_tagged_for
from morphlm.analysis.tag_reading import Format, hanta_version
from morphlm.analysis.tags import tag_comparison
from morphlm.experiments.graph import Done, Step
from morphlm.experiments.recipe import ALL_TEXT
from morphlm.experiments.store import MANIFEST, Store
from morphlm.experiments.texts import TextSource, expected_tokens, hashes_of
from morphlm.experiments.translation_work import TranslationWork
from morphlm.language_model.base import LanguageModel
from morphlm.scoring.loading import load
from morphlm.text.tokenise import sacremoses_version
from morphlm.training.checkpoint import belongs_to, checkpoint_path, remove_checkpoint
from morphlm.training.inputs import InputOptions, TrainingInputs, prepare_inputs
from morphlm.training.pipeline import NGRAMS, ModelOptions, RunOptions, fit, parts_of, task_of
from morphlm.vectors.similarity import evaluate_similarity, read_pairs
from morphlm.version import __version__
from morphlm.vocabulary.corpus import read_corpus
from morphlm.vocabulary.vocabulary import Vocabulary

BASELINE, OTHER = "clbl", "clbl++"  # what the analyses compare
NAMES = ("CLBL", "CLBL++")
SEQUENCES = ("Adjective Noun", "Adjective Adjective Noun")
HANTA = "HanTa"  # the tagger for a text without tags, and the name of its analysis


# ---------------------------------------------------------------- descriptions


def amount(tokens: int | None) -> str:
    """`1m`, `500k`, `all`: the size of a text in names."""
    if tokens is None:
        return ALL_TEXT
    for unit, letter in ((1_000_000, "m"), (1_000, "k")):
        if tokens % unit == 0:
            return f"{tokens // unit}{letter}"
    return str(tokens)


def texts_step(source: TextSource, language: str, tokens: int | None) -> Step:
    """The texts of a language."""
    files = source.files(language, tokens)
    text = source.name_of(language, tokens)
    name = " ".join([language, amount(tokens), *text.split()[1:]])
    hints = {
        "label": f"{language}-{amount(tokens)}",
        "text": text,
        "name": name,
        "tokens": expected_tokens(source, language, tokens),
        "source": source,
    }
    # Not the version of the tokeniser: with it all models would move to other places. Texts that are there stay as they
    # are, with their models; where they are made anew and come out differently, all that is made of them is too, since
    # its records have their hashes.
    settings = {"language": language, "tokens": tokens, **source.settings()}
    return Step("texts", 1, f"{name} texts", settings, files=hashes_of(files), hints=hints)


@dataclass(frozen=True)
class Setting:
    """One training text with its vocabulary: what models share that are compared with each other."""

    texts: Step
    kappa: float
    seed: int
    vocabulary: Step | None = None  # the texts whose vocabulary is taken; None: that of the texts themselves

    @property
    def language(self) -> str:
        """Of the texts."""
        return str(self.texts.settings["language"])

    @property
    def inputs(self) -> tuple[Step, ...]:
        """What decides it, besides numbers."""
        return (self.texts,) if self.vocabulary is None else (self.texts, self.vocabulary)

    @property
    def numbers(self) -> dict[str, Any]:
        """What decides it, besides texts."""
        return {"kappa": self.kappa, "seed": self.seed, "release": __version__}

    @property
    def label(self) -> str:
        """The part of names that comes after the texts."""
        fixed = "" if self.vocabulary is None else f"-words{amount(self.vocabulary.settings['tokens'])}"
        return f"{fixed}-k{self.kappa:g}-s{self.seed}"

    @property
    def name(self) -> str:
        """For people."""
        fixed = "" if self.vocabulary is None else f" words of {amount(self.vocabulary.settings['tokens'])}"
        seed = "" if self.seed == 1 else f" seed {self.seed}"
        return f"{self.texts.hints['name']}{fixed} kappa {self.kappa:g}{seed}"


def stages_step(setting: Setting, kinds: Sequence[str], choices: ModelOptions) -> Step:
    """Vocabulary and, as far as the kinds need them, morphemes and classes."""
    factors, classes = parts_of([choices.config(kind) for kind in kinds if kind != NGRAMS])
    settings = {**setting.numbers, "factors": factors, "classes": classes}
    hints = {"setting": setting}
    return Step("stages", 1, f"{setting.name}, morphemes and classes", settings, setting.inputs, hints=hints)


def model_step(setting: Setting, stages: Step, kind: str, choices: ModelOptions) -> Step:
    """A trained model. Of modified Kneser-Ney the order decides, and nothing else that is chosen."""
    choices = ModelOptions(choices.order) if kind == NGRAMS else choices
    chosen = {name: value for name, value in vars(choices).items() if name not in ("seed", "settings")}
    settings = {"kind": kind, **setting.numbers, **chosen, **choices.settings}
    hints = {
        "setting": setting,
        "choices": replace(choices, seed=setting.seed),
        "label": setting.label + _more(choices),
    }
    wide = " wide" if choices.wide_context else ""
    return Step("model", 1, f"{setting.name}, {kind}{wide}", settings, setting.inputs, after=(stages,), hints=hints)


def _more(choices: ModelOptions) -> str:
    """What differs from the usual, for names: `-epochs3-wide`."""
    usual = ModelOptions()
    parts = {"order": "n", "width": "d", "recipe": ""}
    found = [
        f"{mark}{getattr(choices, name)}"
        for name, mark in parts.items()
        if getattr(choices, name) != getattr(usual, name)
    ]
    found += [] if choices.diagonal else ["full"]
    found += [f"{name}{value}" for name, value in sorted(choices.settings.items())]
    found += ["wide"] if choices.wide_context else []
    return "".join(f"-{part}" for part in found)


def scores_step(model: Step) -> Step:
    """The test text under a model."""
    return Step("scores", 1, f"{model.name}: test", {}, (model,), hints={"setting": model.hints["setting"]})


def frequency_step(baseline: Step, other: Step) -> Step:
    """Two models by the frequency of words."""
    name = f"{other.hints['setting'].name}: by frequency"
    return Step("frequency", 2, name, {"bootstrap_seed": 1}, (baseline, other))


def tags_step(baseline: Step, other: Step, path: Path, name: str) -> Step:
    """Two models by part of speech: of a text with gold tags or, named HANTA, of one that is tagged for it."""
    settings = {"text": name, "sequences": list(SEQUENCES), "bootstrap_seed": 1, "sacremoses": sacremoses_version()}
    settings |= {"tagger": hanta_version()} if name == HANTA else {}
    title = f"{other.hints['setting'].name}: by part of speech, {name}"
    return Step("tags", 2, title, settings, (baseline, other), hashes_of({name: path}), hints={"path": path})


def similarity_step(model: Step, pairs: Sequence[Path]) -> Step:
    """The word vectors of a model against ratings of word pairs."""
    files, settings = {path.stem: path for path in pairs}, {"bootstrap_seed": 1}
    hints = {"paths": tuple(pairs)}
    return Step("similarity", 1, f"{model.name}: word similarity", settings, (model,), hashes_of(files), hints=hints)


# ---------------------------------------------------------------- the work


def _bytes_of(path: Path) -> bytes:
    return path.read_bytes() if path.exists() else b""


@dataclass
class StepRunner:
    """Does steps whose needs are in the store. It remembers what models of one setting share."""

    store: Store
    warn: Callable[[str], None]  # for what a person should see, whatever becomes of the rest of the talk
    _gathered: tuple[str, TrainingInputs] | None = None

    def do(self, step: Step) -> Done:
        """By its kind."""
        work: dict[str, Callable[[Step], Done]] = {
            "texts": self._texts,
            "stages": self._stages,
            "model": self._model,
            "scores": self._scores,
            "frequency": self._frequency,
            "tags": self._tags,
            "similarity": self._similarity,
            **TranslationWork(self.store).kinds,
        }
        return work[step.kind](step)

    def _texts(self, step: Step) -> Done:
        source: TextSource = step.hints["source"]
        language, tokens, out = step.settings["language"], step.settings["tokens"], self.store.texts(step)
        raw, begun = self.store.data(source.dataset or "", language), out.exists()
        texts = source.prepare(language, tokens, out, raw)
        found = {part: vars(counts) for part, counts in texts.counts.items()}
        if tokens is not None and texts.counts["train"].tokens < tokens:
            there = texts.counts["train"].tokens
            self.warn(f"there are only {there:,} of {tokens:,} tokens of text in {step.hints['text']}")
        return Done({"counts": found}, self.store.hashes(texts.train, texts.dev, texts.test), fresh=not begun)

    def _path(self, texts: Step, part: str) -> Path:
        return self.store.texts(texts) / f"{part}.{texts.settings['language']}.txt"

    def _stages(self, step: Step) -> Done:
        before = self._kept_stages()
        inputs = self._inputs(step)
        factors, partition = inputs.factors, inputs.partition
        made = {name.partition("-")[0] for name in self._kept_stages() - before}
        needed = {"segmenter": factors is not None, "classes": partition is not None}
        setting: Setting = step.hints["setting"]
        return Done(
            {
                "vocabulary": len(inputs.vocabulary),
                "tokens": len(inputs.train.tokens) - inputs.train.sentences,
                "factors": None if factors is None else factors.to_json(),
                "classes": None if partition is None else partition.to_json(),
            },
            self._learned_from(setting),
            fresh=all(name in made for name, is_needed in needed.items() if is_needed),
        )

    def _learned_from(self, setting: Setting) -> dict[str, str]:
        """The texts with their hashes: when they change, what was made of them no longer counts."""
        paths = [self._path(setting.texts, part) for part in ("train", "dev")]
        paths += [] if setting.vocabulary is None else [self._path(setting.vocabulary, "train")]
        return self.store.hashes(*paths)

    def _kept_stages(self) -> set[str]:
        folder = self.store.stages
        return {path.name for path in folder.iterdir()} if folder.is_dir() else set()

    def _inputs(self, stages: Step) -> TrainingInputs:
        """What the models of a setting share."""
        if self._gathered is not None and self._gathered[0] == stages.key:
            return self._gathered[1]
        self._gathered = None  # before the next is made: both need memory
        setting: Setting = stages.hints["setting"]
        given = None if setting.vocabulary is None else self._vocabulary(setting)
        kappa = setting.kappa if given is None else None
        inputs = prepare_inputs(
            self._path(setting.texts, "train"),
            self._path(setting.texts, "dev"),
            InputOptions(given, kappa, seed=setting.seed),
            self.store.stages,
            factors=stages.settings["factors"],
            classes=stages.settings["classes"],
        )
        self._gathered = (stages.key, inputs)
        return inputs

    def _vocabulary(self, setting: Setting) -> Vocabulary:
        assert setting.vocabulary is not None
        return read_corpus(self._path(setting.vocabulary, "train")).words.vocabulary(setting.kappa, setting.seed)

    def _model(self, step: Step) -> Done:
        (stages,) = step.after
        choices: ModelOptions = step.hints["choices"]
        kind, out, inputs = step.settings["kind"], self.store.model(step), self._inputs(stages)
        begun = (out / MANIFEST).exists() or checkpoint_path(out).exists()
        if kind != NGRAMS:
            self._forget_others(out, task_of(kind, inputs, choices).identity)
        out.parent.mkdir(parents=True, exist_ok=True)
        before = _bytes_of(out / MANIFEST) if not checkpoint_path(out).exists() else b""
        trained = fit(kind, inputs, choices, RunOptions(checkpoint_path(out).exists()), out, keep_complete=True)
        if before and before != _bytes_of(out / MANIFEST):
            self.warn(f"{out}: the model there was of other data or settings; it has been trained again")
        place = out.relative_to(self.store.folder).as_posix()
        kept = ("kind", "order", "vocabulary", "best_epoch", "development_perplexity", "signature")
        result = {name: value for name, value in trained.to_json().items() if name in kept}
        files = self.store.hashes(out / MANIFEST) | self._learned_from(step.hints["setting"])
        return Done(result | {"place": place}, files, fresh=not begun)

    def _forget_others(self, out: Path, identity: str) -> None:
        place = checkpoint_path(out)
        if place.exists() and not belongs_to(place, identity):
            self.warn(f"{place}: this is a training of other data or settings; it is removed, and training begins anew")
            remove_checkpoint(place)

    def _scored(self, models: Sequence[Step], *texts: Path) -> dict[str, str]:
        """What an evaluation is of: when a model was trained again, it is to be done again."""
        return self.store.hashes(*(self.store.model(model) / MANIFEST for model in models), *texts)

    def _load(self, model: Step) -> LanguageModel:
        return load(self.store.model(model))

    def _scores(self, step: Step) -> Done:
        (model,) = step.inputs
        test = self._path(model.inputs[0], "test")
        result = score_sentences(self._load(model), test).to_json() | {"text": test.name}
        return Done(result, self._scored(step.inputs, test))

    def _frequency(self, step: Step) -> Done:
        baseline, other = step.inputs
        test = self._path(other.inputs[0], "test")
        compared = frequency_comparison(
            self._load(baseline), self._load(other), test, names=NAMES, seed=step.settings["bootstrap_seed"]
        )
        return Done(compared.to_json() | {"text": test.name}, self._scored(step.inputs, test))

    def _tags(self, step: Step) -> Done:
        baseline, other = map(self._load, step.inputs)
        form: Format = "hanta" if step.settings["text"] == HANTA else "conllu"
        tagged = read_tagged_for([baseline, other], [step.hints["path"]], form)
        compared = tag_comparison(
            baseline,
            other,
            tagged,
            sequences=[sequence.split() for sequence in step.settings["sequences"]],
            coarse=True,
            unseen_apart=True,
            names=NAMES,
            seed=step.settings["bootstrap_seed"],
        )
        return Done(compared.to_json() | {"text": step.settings["text"]}, self._scored(step.inputs))

    def _similarity(self, step: Step) -> Done:
        (model,) = step.inputs
        vectors, seed = self._load(model).vectors, step.settings["bootstrap_seed"]
        found = [evaluate_similarity(vectors, read_pairs(path), seed=seed) for path in step.hints["paths"]]
        names = [path.stem for path in step.hints["paths"]]
        sets = [one.to_json() | {"set": name} for name, one in zip(names, found, strict=True)]
        return Done({"sets": sets}, self._scored(step.inputs))

"""How long steps take and how much they write, before they are begun: from rates, corrected by what was measured here.

The rates are those of a machine with 2 cores (docs/results.md); each step that is done keeps its time in the store, and
the next estimate takes the ratio of the real times to the expected ones into account.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from morphlm.experiments.graph import Step
from morphlm.experiments.steps import HANTA, Setting
from morphlm.experiments.store import MANIFEST, Record, Store
from morphlm.training.checkpoint import checkpoint_path
from morphlm.training.config import recipe as recipe_named
from morphlm.training.pipeline import NGRAMS, ModelOptions

START = 1.5  # seconds of a step before and after its work: reading, loading, writing
PREPARING = 4e-6  # a token, on all cores
READING = 0.5e-6  # a token of prepared text
SEGMENTING = 0.35e-3  # a word of the vocabulary
CLUSTERING = 6e-6  # a token
COUNTING = 3e-6  # a token, for all n-grams
# A minibatch of a model with classes costs something a token, and something a word of the vocabulary.
CLASS_TOKEN, CLASS_WORD = 4e-6, 4.5e-11
NOISE_TOKEN = 10e-6  # a token of a model without classes
PRODUCTS = 8e10  # multiplications and additions a second, where a text is normalised over all words
KINDS = {"clbl": 0.8, "clbl+c": 0.85, "clbl+o": 0.95, "clbl++": 1.0, "lbl": 1.1, "lbl+c": 1.1}
PRIOR = 60.0  # expected seconds after which what was measured counts as much as what was assumed
WIDE, EPOCHS = 2.0, 7  # a wide context; epochs until the development perplexity rises
HELD_OUT = 75_000  # tokens of a development or test text
ANALYSIS = 6.0  # seconds of two models on a text, with their bootstrap
TAGGING = 35.0  # seconds, of a test text
WORDS = {"cs": 102_000, "de": 61_000, "en": 32_000, "es": 33_000, "fr": 32_000, "ru": 92_000}  # of 1m tokens, kappa 0.2
GROWTH = 0.6  # the vocabulary grows with this power of the text
SINGLETONS = 0.5  # share of the words that occur once
# Translation: a pair of sentences to learn from; of a sentence its rules, its search, the search for weights.
ALIGNING, EXTRACTING, DECODING, ITERATIONS = 0.25e-3, 0.05, 0.023, 9
BYTES_A_PAIR = 900
BYTES_A_TOKEN, BYTES_AN_NGRAM_TOKEN, FACTORS = 7, 46, 1.35
STATE = 3  # times its parameters are written beside a model that is being trained


@dataclass(frozen=True)
class Cost:
    """What a step takes."""

    seconds: float
    bytes: float = 0.0  # that stay
    beside: float = 0.0  # bytes that are needed only meanwhile


@dataclass
class Estimator:
    """Estimates for one store; it learns from each record."""

    store: Store
    _times: dict[str, list[float]] = field(default_factory=lambda: defaultdict(lambda: [0.0, 0.0]))
    _sizes: dict[str, dict[str, float]] = field(default_factory=dict)  # what texts and stages turned out to be

    def learn(self, records: Iterable[Record]) -> None:
        """Take real times and sizes into account."""
        for record in records:
            if record.kind == "texts":
                self._sizes[record.key] = {"tokens": record.result["counts"]["train"]["tokens"]}
            if record.kind == "stages":
                self._sizes[record.key] = {"vocabulary": record.result["vocabulary"]}
            if record.fresh:
                for group in (_group(record.kind, record.result.get("kind", "")), ""):
                    self._times[group][0] += record.seconds
                    self._times[group][1] += record.expected

    def seconds(self, step: Step) -> float:
        """With the correction."""
        return self.expected(step).seconds * self._ratio(_group(step.kind, step.settings.get("kind", "")))

    def _ratio(self, group: str) -> float:
        """Real to expected time of this kind of step; while little is known, nearer to that of all steps, or to 1."""
        ratio = 1.0
        for name in ("", group):
            real, expected = self._times[name]
            ratio = (real + PRIOR * ratio) / (expected + PRIOR)
        return ratio

    def expected(self, step: Step) -> Cost:
        """Without any correction."""
        work: dict[str, Callable[[Step], Cost]] = {
            "texts": self._texts,
            "stages": self._stages,
            "model": self._model,
            "scores": self._scores,
            "similarity": lambda step: Cost(START + 1.0),
            "frequency": lambda step: Cost(START + ANALYSIS),
            "bitext": lambda step: Cost(START + step.hints["pairs"] * ALIGNING, step.hints["pairs"] * BYTES_A_PAIR),
            "tuning": self._tuning,
            "comparison": self._comparison,
            "tags": lambda step: Cost(START + ANALYSIS + (TAGGING if step.settings["text"] == HANTA else 0.0)),
        }
        return work[step.kind](step)

    # ------------------------------------------------------------ sizes

    def tokens(self, texts: Step) -> float:
        """Of a training text."""
        return float(self._sizes.get(texts.key, {}).get("tokens", texts.hints["tokens"]))

    def words(self, setting: Setting, stages: Step | None = None) -> float:
        """Of its vocabulary."""
        if stages is not None and stages.key in self._sizes:
            return self._sizes[stages.key]["vocabulary"]
        tokens = self.tokens(setting.texts if setting.vocabulary is None else setting.vocabulary)
        kept = (1 - SINGLETONS * setting.kappa) / (1 - SINGLETONS * 0.2)
        return WORDS.get(setting.language, 60_000) * kept * float((tokens / 1e6) ** GROWTH)

    # ------------------------------------------------------------ kinds

    def _texts(self, step: Step) -> Cost:
        tokens = self.tokens(step) + 2 * HELD_OUT
        return Cost(START + 2 + tokens * PREPARING, tokens * BYTES_A_TOKEN)

    def _stages(self, step: Step) -> Cost:
        setting: Setting = step.hints["setting"]
        tokens, words = self.tokens(setting.texts), self.words(setting, step)
        seconds = START + tokens * READING
        seconds += words * SEGMENTING if step.settings["factors"] else 0.0
        seconds += tokens * CLUSTERING if step.settings["classes"] else 0.0
        return Cost(seconds, words * 60)

    def _model(self, step: Step) -> Cost:
        setting: Setting = step.hints["setting"]
        tokens, kind = self.tokens(setting.texts), step.settings["kind"]
        if kind == NGRAMS:
            cost = Cost(START + tokens * (READING + COUNTING), tokens * BYTES_AN_NGRAM_TOKEN)
        else:
            choices: ModelOptions = step.hints["choices"]
            words = self.words(setting, step.after[0])
            size = words * choices.width * 8 * (FACTORS if "+" in kind else 1.0)
            cost = Cost(START + 3 + self._training(choices, kind, tokens, words), size + words * 70, size * STATE)
        out = self.store.model(step)
        if (out / MANIFEST).exists() and not checkpoint_path(
            out
        ).exists():  # it is looked at, and probably taken as it is
            return Cost(START + 3 + self._scoring(kind, step))
        return cost

    def _training(self, choices: ModelOptions, kind: str, tokens: float, words: float) -> float:
        training = recipe_named(choices.recipe, **choices.settings)
        epochs = min(EPOCHS, training.epochs)
        if kind.startswith("clbl"):
            # Rates are those of minibatches of 10,000 tokens; smaller ones touch the whole vocabulary more often.
            batches = 10_000 / training.batch_for(int(tokens))
            a_token, evaluating = CLASS_TOKEN + CLASS_WORD * words * batches, 0.0
        else:
            a_token, evaluating = NOISE_TOKEN, HELD_OUT * words * choices.width * 2 / PRODUCTS
        wide = WIDE if choices.wide_context else 1.0
        rate = KINDS.get(kind, 1.0) * a_token * choices.width / 100 * wide
        return epochs * (tokens * rate + evaluating)

    def _scores(self, step: Step) -> Cost:
        (model,) = step.inputs
        return Cost(START + self._scoring(model.settings["kind"], model), 60_000)

    def _tuning(self, step: Step) -> Cost:
        bitext, *models = step.inputs
        decodings = 1 + step.settings["tuning"]["probes"] + ITERATIONS * len(step.settings["seeds"])
        copied = BYTES_A_PAIR * bitext.hints["pairs"] + sum(self._model_bytes(model) for model in models)
        return Cost(START + step.settings["sentences"] * (EXTRACTING + decodings * DECODING), copied)

    def _model_bytes(self, model: Step) -> float:
        """Of a model as it is in a system."""
        if model.settings["kind"] == NGRAMS:
            return self.tokens(model.hints["setting"].texts) * BYTES_AN_NGRAM_TOKEN
        return self.words(model.hints["setting"], model.after[0]) * int(model.settings["width"]) * 8 * FACTORS

    def _comparison(self, step: Step) -> Cost:
        decodings = sum(len(tuning.settings["seeds"]) for tuning in step.inputs)
        return Cost(START + 10 + step.settings["sentences"] * (EXTRACTING + decodings * DECODING), 1_000_000)

    def _scoring(self, kind: str, model: Step) -> float:
        if kind == NGRAMS or kind.startswith("clbl"):
            return 1.0
        words = self.words(model.hints["setting"], model.after[0])
        return 1.0 + HELD_OUT * words * int(model.settings["width"]) * 2 / PRODUCTS


def _group(kind: str, model: str) -> str:
    """Steps whose times are like each other."""
    family = model if model == NGRAMS else model.partition("+")[0]
    return f"{kind} {family}".strip()


@dataclass(frozen=True)
class Forecast:
    """What is still to be done."""

    steps: int
    done: int
    seconds: float
    bytes: float

    def format(self, name: str, store: Store) -> str:
        """A line for a person."""
        left = f"about {duration(self.seconds)} and {size(self.bytes)}" if self.done < self.steps else "nothing is left"
        return f"{name}: {self.steps} steps, {self.done} done; {left} in {store.folder}"


def forecast(steps: Sequence[Step], done: set[str], estimator: Estimator) -> Forecast:
    """Sum up the steps that are not done."""
    left = [step for step in steps if step.key not in done]
    costs = [estimator.expected(step) for step in left]
    seconds = sum(estimator.seconds(step) for step in left)
    room = sum(cost.bytes for cost in costs) + max((cost.beside for cost in costs), default=0.0)
    return Forecast(len(steps), len(steps) - len(left), seconds, room)


def duration(seconds: float) -> str:
    """For people: `40 s`, `5 min`, `2 h 40 min`."""
    if seconds < 90:
        return f"{max(1, round(seconds))} s"
    minutes = round(seconds / 60)
    hours, minutes = divmod(minutes, 60)
    return f"{minutes} min" if not hours else f"{hours} h {minutes} min" if minutes else f"{hours} h"


def size(count: float) -> str:
    """For people: `3.1 GB`, `25 MB`, `60 kB`, `0 kB`."""
    if count >= 1e9:
        return f"{count / 1e9:.1f} GB"
    return f"{count / 1e6:.0f} MB" if count >= 1e6 else f"{math.ceil(count / 1e3)} kB"

"""The whole method: from raw text to a directory with the model to use, its vectors, a report and how to use them.

`learn` is what Python programs call; `Learning.run` shows the stages. Each stage looks at the record first, so that a
run that was interrupted goes on, and writes there what it has found.
"""

from __future__ import annotations

import contextlib
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

from morphlm.errors import TrainingError
from morphlm.files import cannot_write, make_folder
from morphlm.learning.choices import DEFAULT, START, ModelChoice
from morphlm.learning.directory import PARTS, LearnDirectory, begin, find_record, is_complete
from morphlm.learning.finishing import finish, mix_or_keep
from morphlm.learning.kneser_ney import choose_ngrams
from morphlm.learning.learned import Learned
from morphlm.learning.pace import TRIAL_EPOCHS, Budget, TextSize
from morphlm.learning.record import FinalChoice, RecordFile
from morphlm.learning.request import LearnRequest, Texts, as_request_texts, is_prepared_already, with_hashes
from morphlm.learning.search import OutOfTimeError, TrialText, best_of, search
from morphlm.learning.stages import Stages
from morphlm.learning.texts import make_texts, write_part
from morphlm.machine import machine_type
from morphlm.modelfile import MANIFEST
from morphlm.ngram.training import train_ngram
from morphlm.text.preparation import Case
from morphlm.threads import available_cores
from morphlm.training.inputs import InputOptions, TrainingInputs, find_segmenter, prepare_inputs
from morphlm.training.job import RunOptions
from morphlm.training.pipeline import ModelOptions, fit
from morphlm.vocabulary.corpus import read_corpus
from morphlm.costs import format_duration

LEAST_TOKENS = 1000  # of a training text from which CLBL++ can learn anything
SEARCH_TOKENS, SEARCH_SHARE = 150_000, 0.25  # trials get so much of the training text, whichever is more
USUAL_TRIALS = 9  # for planning
READING_SHARE, SEARCH_TIME = 0.2, 0.45  # of the time that is given, and of what is left after the fixed stages
READING_BYTE = 1.2e-6  # seconds, until the text is prepared
LEAST_SEARCH = 20_000  # tokens of a text that a search tells anything on
LEAST_EPOCHS = 4  # that the last training should get

READ, NGRAMS, SEARCH, TRAIN, FINISH = "reading", "choosing the vocabulary", "searching", "training", "describing"


def learn(
    texts: Texts,
    out: str | Path | None = None,
    *,
    language: str | None = None,
    minutes: float | None = None,
    dev: str | Path | None = None,
    test: str | Path | None = None,
    prepared: bool = False,
    allow_unknown: bool = False,
    field: str | None = None,
    case: Case = "lower",
    seed: int = 1,
    threads: int | None = None,
    restart: bool = False,
) -> Learned:
    """Learn a model from raw text: a file or folder (also several, as `Path`s), raw lines, or lists of tokens.

    The language is recognised unless it is named; settings are chosen by a development text, which like the test text
    is a part of the text unless it is given. `out` is the directory that is written; the same call again goes on with
    what was interrupted, or gives the finished result at once. Without it nothing is kept but the model in memory.
    """
    given, is_tokens = as_request_texts(texts)
    with contextlib.ExitStack() as stack:
        place = Path(out) if out is not None else Path(stack.enter_context(tempfile.TemporaryDirectory())) / "learned"
        request = LearnRequest(
            given, place, language, minutes, dev, test, prepared or is_tokens, allow_unknown, field, case, seed, threads
        )
        learned = learn_request(request, restart=restart)
        return learned.without_directory() if out is None else learned


def learn_request(
    request: LearnRequest, *, restart: bool = False, verbose: bool = False, budget: Budget | None = None
) -> Learned:
    """Begin, go on, or find that all is done."""
    directory, record = LearnDirectory(request.out), find_record(request, restart=restart)
    if record is not None and is_complete(directory, record):
        return Learned(request.out, record, was_complete=True)
    if not request.prepared and is_prepared_already(request):
        request = replace(request, prepared=True)
    budget = budget or Budget(request.minutes)
    with directory.locked():
        directory, file = begin(request, restart=restart)
        with Stages(budget, directory.log, verbose=verbose) as stages:
            Learning(request, directory, file, stages).run()
    return Learned(request.out, file.record)


class Learning:
    """A run under way."""

    def __init__(self, request: LearnRequest, directory: LearnDirectory, file: RecordFile, stages: Stages) -> None:
        self.request, self.directory, self.file, self.stages = request, directory, file, stages
        self.budget, self._seconds_before = stages.budget, file.record.seconds

    def run(self) -> None:
        """Read and divide; choose the vocabulary; search the settings; train; mix, measure and describe."""
        self.read()
        self.choose_vocabulary()
        self.search()
        self.train()
        self.finish()

    # ------------------------------------------------------------ reading

    def read(self) -> None:
        """Raw text -> DIR/text/train.txt, dev.txt and test.txt."""
        if self.file.record.text is not None and all(self.directory.text(part).is_file() for part in PARTS):
            return
        size = sum(file.bytes or 0 for file in self.file.record.inputs)
        self.stages.plan({READ: 1.0 + size * READING_BYTE})
        with self.stages.stage(READ):
            deadline = self.budget.seconds * READING_SHARE
            text = make_texts(
                self.request,
                self.directory,
                self.stages.say,
                is_late=lambda: self.budget.elapsed > deadline,
                affordable=self._affordable_tokens,
            )
            inputs = with_hashes(self.file.record.inputs)
        self.update(text=text, inputs=inputs, machine=dict(machine_type()))
        self.stages.say(text.format())

    def _affordable_tokens(self, size: TextSize) -> int:
        """How much training text there is time for, with all that must be done and a short training."""
        if not self.budget.is_limited:
            return size.tokens

        def seconds(tokens: int) -> float:
            part = size.part(tokens)
            fixed = part.ngram_seconds() + part.input_seconds() + part.finish_seconds()
            return self.budget.pace.seconds(fixed + part.training_seconds(DEFAULT, LEAST_EPOCHS))

        tokens = size.tokens
        while seconds(tokens) > self.budget.left and tokens > LEAST_TOKENS:
            tokens = round(tokens * 0.8)
        return tokens

    # ------------------------------------------------------------ choosing

    @property
    def size(self) -> TextSize:
        """Of the training text."""
        assert self.file.record.text is not None
        parts = self.file.record.text.parts
        return TextSize(parts["train"].tokens, self._words, parts["dev"].tokens)

    @property
    def _words(self) -> int:
        if not hasattr(self, "_counted"):
            self._counted = read_corpus(self.directory.text("train"), allow_unknown=True).words.types
        return self._counted

    @property
    def is_too_small(self) -> bool:
        """Whether Kneser-Ney is all that can be learned."""
        return self.size.tokens < LEAST_TOKENS

    def choose_vocabulary(self) -> None:
        """kappa and the order of Kneser-Ney."""
        self._plan()
        if self.file.record.ngrams is not None:
            self.stages.waiting.pop(NGRAMS)
            return
        with self.stages.stage(NGRAMS):
            trials = choose_ngrams(
                self.directory.text("train"),
                self.directory.text("dev"),
                seed=self.request.seed,
                allow_unknown=self.request.allow_unknown,
            )
        self.update(ngram_trials=tuple(trials), ngrams=trials[-1].choice)

    def _plan(self) -> None:
        """Say how long it will take."""
        size, record = self.size, self.file.record
        plan = {NGRAMS: size.ngram_seconds(), FINISH: size.finish_seconds()}
        if not self.is_too_small:
            part = size.part(self._search_tokens() if record.search_tokens is None else record.search_tokens)
            trial = part.training_seconds(START, TRIAL_EPOCHS)
            left = max(0, USUAL_TRIALS - len(record.trials)) if part.tokens else 0
            plan |= {SEARCH: part.input_seconds() + left * trial, TRAIN: size.input_seconds() + size.training_seconds(START)}
        if self.budget.is_limited:
            factor = max(0.0, self.budget.left) / max(1.0, self.budget.pace.seconds(sum(plan.values())))
            plan = {name: seconds * min(1.0, factor) for name, seconds in plan.items()}
        self.stages.plan({name: plan[name] for name in (NGRAMS, SEARCH, TRAIN, FINISH) if name in plan})
        cores = self.request.threads or available_cores()
        self.stages.say(
            f"about {format_duration(self.stages.left)} for {size.tokens:,} tokens on {cores} core{'s' * (cores > 1)}"
        )

    def _search_tokens(self) -> int:
        """How much text the trials get; with a limit, so much that all of them fit into their share of the time."""
        size = self.size
        tokens = min(size.tokens, max(SEARCH_TOKENS, round(SEARCH_SHARE * size.tokens)))
        if not self.budget.is_limited:
            return tokens
        fixed = size.ngram_seconds() + size.input_seconds() + size.finish_seconds()
        time = SEARCH_TIME * (self.budget.left - self.budget.pace.seconds(fixed))

        def seconds(tokens: int) -> float:
            part = size.part(tokens)
            trials = USUAL_TRIALS * part.training_seconds(START, TRIAL_EPOCHS)
            return self.budget.pace.seconds(part.ngram_seconds() + part.input_seconds() + trials)

        while tokens >= LEAST_SEARCH and seconds(tokens) > time:
            tokens = round(tokens * 0.8)
        return tokens if tokens >= min(LEAST_SEARCH, size.tokens) else 0

    def search(self) -> None:
        """The settings of CLBL++, by short trainings."""
        if self.is_too_small or self.file.record.choice is not None:
            self.stages.waiting.pop(SEARCH, None)
            return
        if self.file.record.search_tokens is None:
            self.update(search_tokens=self._search_tokens())
        if self.file.record.search_tokens:
            with contextlib.suppress(OutOfTimeError):
                self._search(self.file.record.search_tokens)
        self.stages.waiting.pop(SEARCH, None)

    def _search(self, tokens: int) -> None:
        record, directory, request = self.file.record, self.directory, self.request
        assert record.ngrams is not None
        part = directory.text("train")
        if tokens < self.size.tokens:
            part = directory.work / "part.txt"
            if not part.is_file():
                write_part(directory.text("train"), part, tokens)
        text = TrialText(
            part,
            directory.text("dev"),
            record.ngrams,
            directory.artefacts,
            request.seed,
            request.threads,
            request.allow_unknown,
        )
        known = {trial.choice: trial for trial in record.trials}
        deadline = self.budget.elapsed + SEARCH_TIME * self.budget.left  # infinite without a limit
        size = self.size.part(tokens)

        def measure(choice: ModelChoice) -> float:
            if choice not in known:
                expected = size.training_seconds(choice, TRIAL_EPOCHS)
                if known and self.budget.elapsed + self.budget.pace.seconds(expected) > deadline:
                    raise OutOfTimeError
                with self.stages.trial(str(choice), SEARCH, expected):
                    known[choice] = text.run(choice)
                self.update(trials=(*self.file.record.trials, known[choice]))
            return known[choice].perplexity

        search(measure)

    def _choice(self) -> ModelChoice:
        """The best of the trials that there is time for; without trials, what is usually best."""
        trials = sorted(self.file.record.trials, key=lambda trial: trial.perplexity)
        candidates = [trial.choice for trial in trials] or [START, DEFAULT]
        if self.file.record.trials and best_of(self.file.record.trials) is None:
            candidates = [DEFAULT]
        if self.budget.is_limited:
            affordable = [choice for choice in candidates if self._is_affordable(choice)]
            cheapest = min(candidates, key=self.size.training_seconds)
            candidates = affordable or [cheapest]
        return candidates[0]

    def _is_affordable(self, choice: ModelChoice) -> bool:
        size = self.size
        expected = size.input_seconds() + size.training_seconds(choice, LEAST_EPOCHS) + size.finish_seconds()
        return self.budget.pace.seconds(expected) <= self.budget.left

    # ------------------------------------------------------------ training

    def train(self) -> None:
        """Kneser-Ney and CLBL++ on the whole training text; an interrupted training goes on."""
        self._train_ngrams()
        if self.is_too_small:
            return
        if self.file.record.choice is None:
            model = self._choice()
            words = len(read_corpus(self.directory.text("train"), allow_unknown=True).words.vocabulary(
                self.ngrams.kappa, self.request.seed))
            self.update(choice=FinalChoice(model, model.classes(words)))
        with self.stages.stage(TRAIN):
            self._train_clbl()

    @property
    def ngrams(self) -> Any:
        assert self.file.record.ngrams is not None
        return self.file.record.ngrams

    @property
    def kneser_ney(self) -> Path:
        return self.directory.work / "mkn"

    @property
    def clbl(self) -> Path:
        return self.directory.work / "clbl++"

    def _train_ngrams(self) -> None:
        if (self.kneser_ney / MANIFEST).is_file() or (self.directory.model / MANIFEST).is_file():
            return
        make_folder(self.directory.work)
        train_ngram(
            self.directory.text("train"),
            self.ngrams.order,
            kappa=self.ngrams.kappa,
            seed=self.request.seed,
            allow_unknown=self.request.allow_unknown,
        ).save(self.kneser_ney)

    def inputs(self, classes: int | None) -> TrainingInputs:
        """Vocabulary, morphemes and classes of the whole training text."""
        options = self.input_options(classes)
        train, dev = self.directory.text("train"), self.directory.text("dev")
        return prepare_inputs(train, dev, options, self.directory.artefacts)

    def input_options(self, classes: int | None = None) -> InputOptions:
        return InputOptions(
            kappa=self.ngrams.kappa,
            classes=classes,
            seed=self.request.seed,
            threads=self.request.threads,
            allow_unknown=self.request.allow_unknown,
        )

    def _train_clbl(self) -> None:
        choice = self.file.record.choice
        assert choice is not None
        settings = choice.model.settings() | ({"stop_after": choice.stop_after} if choice.stop_after else {})
        reserve = 1.2 * self.budget.pace.seconds(self.size.finish_seconds())
        run = RunOptions(
            threads=self.request.threads,
            keep_complete=True,
            resume_or_restart=True,
            checkpoint_minutes=1.0,
            deadline=self.budget.deadline(reserve),
        )
        try:
            model = fit("clbl++", self.inputs(choice.classes), ModelOptions(settings, seed=self.request.seed), run, self.clbl).model
        except TrainingError as error:
            self.stages.say(f"warning: the training of CLBL++ failed ({error}); Kneser-Ney alone is kept")
            return
        self.update(choice=replace(choice, stop_after=model.training.get("stop_after", 0)))

    # ------------------------------------------------------------ the end

    def finish(self) -> None:
        """Mix if that helps, measure, write vectors, report and README, and say that it is complete."""
        with self.stages.stage(FINISH):
            segmenter = find_segmenter(self.inputs(None if self.file.record.choice is None else self.file.record.choice.classes).vocabulary, self.input_options(), self.directory.artefacts)
            segmenter.save(self.directory.segmenter)
            kind, weights_by = mix_or_keep(self.directory, self.kneser_ney, self.clbl, self.request)
            result = finish(self.directory, self.file.record, kind, weights_by, self.kneser_ney, self.clbl, self.request)
        self.update(result=result)
        Learned(self.directory.root, self.file.record).write_readme()
        self.update(complete=True, seconds=self._seconds_before + self.budget.elapsed)
        self.directory.remove_work()

    def update(self, **changes: Any) -> None:
        """Note what a stage has found."""
        self.file.update(seconds=self._seconds_before + self.budget.elapsed, **({} if "seconds" in changes else {}), **{k: v for k, v in changes.items() if k != "seconds"})

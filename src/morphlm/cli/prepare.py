"""`morphlm prepare`: tokenises, normalises and filters raw text, and writes a record of how."""

from __future__ import annotations

from itertools import islice
from typing import Any, get_args

import click

from morphlm.cli import options
from morphlm.errors import ConfigError
from morphlm.files import check_can_write
from morphlm.progress import notify
from morphlm.tables import percent
from morphlm.text.documents import read_documents
from morphlm.text.languages import check_language, check_spaced, language_name
from morphlm.text.parallel_pairs import MAX_RATIO, pair_options, prepare_pair_files
from morphlm.text.preparation import Case, LongSentences, Preparation, PrepareOptions, Tokeniser, write_preparation
from morphlm.text.prepare import prepare_files
from morphlm.text.recognition import recognise_language
from morphlm.text.tokenise import has_abbreviations

LOUD_LOSS = 0.02  # share of lost tokens that is too much
SAMPLE_DOCUMENTS, SAMPLE_PARAGRAPHS = 20, 500  # to recognise the language; so many paragraphs of each


@click.command()
@click.argument("files", nargs=-1)
@click.option(
    "--language",
    "-l",
    metavar="CODE",
    help="Language of the text: cs, Czech, ...  [default: recognised, if the text is in files]",
)
@click.option("--out", "-o", metavar="FILE", help="Output file.  [default: -, standard output]")
@click.option(
    "--tokeniser",
    type=click.Choice(get_args(Tokeniser)),
    default="words",
    help="By the rules of the language; Moses's, as in the paper; or none: tokens stand between spaces.",
)
@click.option("--no-tokenise", "tokeniser", flag_value="none", hidden=True)
@click.option("--nfc/--no-nfc", default=True, help="Unicode normal form C.")
@click.option(
    "--case",
    type=click.Choice(get_args(Case)),
    default="lower",
    help="Lower case by the rules of the language, or as it is.",
)
@click.option("--no-lowercase", "case", flag_value="keep", hidden=True)
@click.option("--digits/--no-digits", default=True, help="Replace every digit of any script by 0.")
@click.option(
    "--split",
    is_flag=True,
    help="Find the sentences in text that is hard-wrapped or has a paragraph a line; files or folders.",
)
@click.option("--max-tokens", type=int, default=80, help="Most tokens of a sentence; 0: any number.")
@click.option(
    "--long",
    "long_sentences",
    type=click.Choice(get_args(LongSentences)),
    help="Split longer sentences, or drop them.  [default: drop with Moses and parallel text, else split]",
)
@click.option(
    "--cyrillic-share",
    type=float,
    help="Tokens with a smaller share of Cyrillic among their letters become <unk>; 0 is off. Tokens without letters "
    "(numbers, punctuation) stay.  [default: 0.8 for ru with Moses, else 0]",
)
@click.option("--parallel", nargs=2, metavar="SOURCE TARGET", help="Prepare parallel text: two files, line by line.")
@click.option("--languages", metavar="CODE,CODE", help="Languages of the two sides of parallel text, such as en,cs.")
@click.option("--out-pair", nargs=2, metavar="SOURCE TARGET", help="Output files of the two sides of parallel text.")
@click.option(
    "--max-ratio",
    type=float,
    default=MAX_RATIO,
    help="Drop pairs whose longer side has more than this many times the tokens of the shorter, unless they differ by "
    "at most 5 tokens; 0 keeps all.",
)
@click.option(
    "--mend",
    is_flag=True,
    help="Repair input that would be refused (NUL, bad UTF-8, endless lines, ...) and count the repairs.",
)
@options.encoding
@click.option("--record", metavar="FILE", help="Also write the record of the preparation to this file.")
@options.as_json
@options.processes
def command(
    files: tuple[str, ...],
    language: str | None,
    out: str | None,
    parallel: tuple[str, str] | None,
    languages: str | None,
    out_pair: tuple[str, str] | None,
    max_ratio: float,
    record: str | None,
    as_json: bool,
    mend: bool,
    split: bool,
    encoding: str | None,
    processes: int,
    **steps: Any,  # other fields of PrepareOptions
) -> None:
    """Tokenise and normalise text. Each step is an option; --tokeniser moses makes the others the paper's.

    Reads FILES in order (standard input if there are none) and writes one sentence per line, its tokens separated by
    single spaces. Preparing prepared text again changes nothing, except with Moses. Empty sentences are dropped. The
    options and counts are recorded in FILE.prepared.json beside the output, or in one line on standard error.

    \b
      morphlm prepare --language cs --out train.txt raw/*.gz
      morphlm prepare --parallel raw.en raw.cs --languages en,cs --out-pair train.en train.cs
    """
    run = {"mend": mend, "encoding": encoding, "processes": processes}
    if parallel is None:
        if languages or out_pair:
            raise ConfigError("--languages and --out-pair are for parallel text; add --parallel SOURCE TARGET")
        if max_ratio != MAX_RATIO:
            raise ConfigError("--max-ratio is for parallel text; add --parallel SOURCE TARGET")
        language = _language(language, files, encoding, steps["tokeniser"])
        chosen = PrepareOptions(language=language, **steps)
        _prepare_text(files, chosen, out or "-", record, as_json, run | {"split": split})
        return
    if files or language or out or record or split or steps.pop("long_sentences"):
        raise ConfigError(
            "parallel text takes --languages and --out-pair; no FILES, --language, --out, --record, --split or --long"
        )
    if not out_pair:
        raise ConfigError("parallel text needs two files to write; add --out-pair SOURCE TARGET")
    _prepare_pairs(parallel, out_pair, _language_pair(languages), as_json, run, max_ratio=max_ratio, **steps)


def _prepare_text(
    files: tuple[str, ...], steps: PrepareOptions, out: str, record: str | None, as_json: bool, run: dict[str, Any]
) -> None:
    for target in filter(None, (out, record)):
        check_can_write(target)
    _mention_missing_abbreviations(steps.tokeniser, steps.language)
    preparation = prepare_files(files or ("-",), out, steps, **run)
    warn_of_loss(preparation)
    if record:
        write_preparation(record, preparation)
    if as_json:
        options.print_json(preparation.to_dict(), err=out == "-")
    else:
        notify(f"prepared: {preparation.format()}")


def _prepare_pairs(
    parallel: tuple[str, str],
    out_pair: tuple[str, str],
    languages: tuple[str | None, str | None],
    as_json: bool,
    run: dict[str, Any],
    **steps: Any,
) -> None:
    for target in out_pair:
        check_can_write(target)
    settings = pair_options(languages, **steps)
    _mention_missing_abbreviations(settings.source.tokeniser, *languages)
    records = prepare_pair_files(parallel, out_pair, settings, **run)
    if as_json:
        options.print_json([preparation.to_dict() for preparation in records])
        return
    for path, preparation in zip(out_pair, records, strict=True):
        notify(f"prepared {path}: {preparation.format()}")


def _language_pair(languages: str | None) -> tuple[str | None, str | None]:
    source, comma, target = (languages or ",").partition(",")
    if not comma or "," in target:
        raise ConfigError(f"--languages {languages} is not a pair; write it like --languages en,cs")
    return (check_language(source) if source else None), (check_language(target) if target else None)


def _language(given: str | None, files: tuple[str, ...], encoding: str | None, tokeniser: Tokeniser) -> str | None:
    """The language that is named, or that the beginning of the files is recognised to be of."""
    if given is not None:
        return _check_spaced(check_language(given), tokeniser)
    if tokeniser != "words":
        return None
    if not files or "-" in files:
        notify("no --language: text is tokenised by rules that suit most languages")
        return None
    found = recognise_language(_sample(files, encoding))
    if found.code is None or not found.is_sure:
        notify("the language is not clear: text is tokenised by rules that suit most; give --language CODE")
        return None
    notify(
        f"the text seems to be {language_name(found.code)} ({found.code}); if not, name the language with --language"
    )
    return _check_spaced(found.code, tokeniser)


def _check_spaced(code: str, tokeniser: Tokeniser) -> str:
    """Our tokeniser would make endless words of text without spaces between them."""
    return check_spaced(code, "prepare the text with --tokeniser none") if tokeniser == "words" else code


def _sample(files: tuple[str, ...], encoding: str | None) -> list[str]:
    """The beginning of the text."""
    documents = islice(read_documents(files, encoding=encoding, say=lambda _: None), SAMPLE_DOCUMENTS)
    return [paragraph for document in documents for paragraph in document.paragraphs[:SAMPLE_PARAGRAPHS]]


def warn_of_loss(preparation: Preparation) -> None:
    """Say it loudly if much of a text was dropped."""
    counts = preparation.counts
    if counts.lost_share > LOUD_LOSS:
        notify(
            f"WARNING: {percent(counts.lost_share, 0)} of the tokens are lost: {counts.lost_tokens:,} in sentences too "
            "long; --long split keeps them"
        )
    dropped = sum(count for repair, count in preparation.repairs.items() if repair.startswith("lines dropped"))
    if dropped > LOUD_LOSS * (counts.lines + dropped):
        share = dropped / (counts.lines + dropped)
        notify(f"WARNING: {percent(share, 0)} of the lines were dropped: {dropped:,}, for bad UTF-8 or their length")


def _mention_missing_abbreviations(tokeniser: Tokeniser, *languages: str | None) -> None:
    for language in languages:
        if tokeniser == "moses" and language and not has_abbreviations(language):
            notify(f"the tokeniser knows no abbreviations of {language}; it goes by those of English")

"""`morphlm prepare`: tokenises, normalises and filters raw text, and writes a record of how."""

from __future__ import annotations

from typing import Any

import click

from morphlm.cli.options import as_json as json_option
from morphlm.cli.options import print_json
from morphlm.errors import ConfigError
from morphlm.files import check_can_write
from morphlm.progress import notify
from morphlm.text.parallel_pairs import MAX_RATIO, pair_options, prepare_pair_files
from morphlm.text.prepare import PrepareOptions, prepare_files, write_preparation
from morphlm.text.tokenise import has_abbreviations
from morphlm.threads import available_cores


@click.command()
@click.argument("files", nargs=-1)
@click.option("--language", "-l", metavar="CODE", help="Language of the text (cs, de, ...), for the tokeniser.")
@click.option("--out", "-o", metavar="FILE", help="Output file.  [default: -, standard output]")
@click.option("--tokenise/--no-tokenise", default=True, show_default=True, help="Moses tokenisation (sacremoses).")
@click.option("--nfc/--no-nfc", default=True, show_default=True, help="Unicode normal form C.")
@click.option("--lowercase/--no-lowercase", default=True, show_default=True, help="Convert to lower case.")
@click.option("--digits/--no-digits", default=True, show_default=True, help="Replace every digit of any script by 0.")
@click.option("--max-tokens", type=int, default=80, show_default=True, help="Drop longer sentences; 0 keeps all.")
@click.option(
    "--cyrillic-share",
    type=float,
    help="Tokens with a smaller share of Cyrillic among their letters become <unk>; 0 is off. Tokens without letters "
    "(numbers, punctuation) stay.  [default: 0.8 for ru, else 0]",
)
@click.option("--parallel", nargs=2, metavar="SOURCE TARGET", help="Prepare parallel text: two files, line by line.")
@click.option("--languages", metavar="CODE,CODE", help="Languages of the two sides of parallel text, such as en,cs.")
@click.option("--out-pair", nargs=2, metavar="SOURCE TARGET", help="Output files of the two sides of parallel text.")
@click.option(
    "--max-ratio",
    type=float,
    default=MAX_RATIO,
    show_default=True,
    help="Drop pairs whose longer side has more than this many times the tokens of the shorter, unless they differ by "
    "at most 5 tokens; 0 keeps all.",
)
@click.option(
    "--mend",
    is_flag=True,
    help="Repair input that would be refused (CRLF, NUL, BOM, bad UTF-8, ...) and count the repairs.",
)
@click.option("--record", metavar="FILE", help="Also write the record of the preparation to this file.")
@json_option
@click.option(
    "--processes",
    type=click.IntRange(min=1),
    default=available_cores,
    help="Number of processes; results do not depend on it.  [default: all cores]",
)
def command(parallel: tuple[str, str] | None, **options: Any) -> None:
    """Tokenise, normalise and filter text. Each step is an option; the defaults are the paper's.

    Reads FILES in order (standard input if there are none) and writes one sentence per line, its tokens separated by
    single spaces. Empty sentences are dropped. The options and counts are recorded in FILE.prepared.json beside the
    output, or in one line on standard error.

    \b
      morphlm prepare --language cs --out train.txt raw/*.gz
      morphlm prepare --parallel raw.en raw.cs --languages en,cs --out-pair train.en train.cs
    """
    if parallel:
        _prepare_pairs(parallel, **options)
    else:
        _prepare_text(**options)


def _prepare_text(
    *,
    files: tuple[str, ...],
    language: str | None,
    out: str | None,
    languages: str | None,
    out_pair: tuple[str, str] | None,
    max_ratio: float,
    mend: bool,
    record: str | None,
    processes: int,
    as_json: bool,
    **steps: Any,
) -> None:
    if languages or out_pair:
        raise ConfigError("--languages and --out-pair are for parallel text; add --parallel SOURCE TARGET")
    if max_ratio != MAX_RATIO:
        raise ConfigError("--max-ratio is for parallel text; add --parallel SOURCE TARGET")
    options = PrepareOptions(language=language, **steps)
    for target in filter(None, (out, record)):
        check_can_write(target)
    _mention_missing_abbreviations(options.tokenise, language)
    preparation = prepare_files(files or ("-",), out or "-", options, mend=mend, processes=processes)
    if record:
        write_preparation(record, preparation)
    if as_json:
        print_json(preparation.to_dict(), err=(out or "-") == "-")
    else:
        notify(f"prepared: {preparation.format()}")


def _prepare_pairs(
    parallel: tuple[str, str],
    *,
    files: tuple[str, ...],
    language: str | None,
    out: str | None,
    languages: str | None,
    out_pair: tuple[str, str] | None,
    mend: bool,
    record: str | None,
    processes: int,
    as_json: bool,
    **steps: Any,
) -> None:
    if files or language or out or record:
        raise ConfigError("parallel text takes --languages and --out-pair; no FILES, --language, --out or --record")
    if not out_pair:
        raise ConfigError("parallel text needs two files to write; add --out-pair SOURCE TARGET")
    for target in out_pair:
        check_can_write(target)
    pair = _language_pair(languages)
    options = pair_options(pair, **steps)
    _mention_missing_abbreviations(options.source.tokenise, *pair)
    records = prepare_pair_files(parallel, out_pair, options, mend=mend, processes=processes)
    if as_json:
        print_json([preparation.to_dict() for preparation in records])
        return
    for path, preparation in zip(out_pair, records, strict=True):
        notify(f"prepared {path}: {preparation.format()}")


def _language_pair(languages: str | None) -> tuple[str | None, str | None]:
    source, comma, target = (languages or ",").partition(",")
    if not comma or "," in target:
        raise ConfigError(f"--languages {languages} is not a pair; write it like --languages en,cs")
    return source or None, target or None


def _mention_missing_abbreviations(tokenise: bool, *languages: str | None) -> None:
    for language in languages:
        if tokenise and language and not has_abbreviations(language):
            notify(f"the tokeniser knows no abbreviations of {language}; it goes by those of English")

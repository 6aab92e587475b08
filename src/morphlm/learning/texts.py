"""The three texts that everything is learned from: collected, divided, written with records of their preparation."""

from __future__ import annotations

from array import array
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from morphlm.files import COMPRESSIONS, atomic_writer, make_folder, sha256_of
from morphlm.learning.collecting import Collected, Say, collect, collect_like
from morphlm.learning.directory import PARTS, LearnDirectory
from morphlm.learning.dividing import HELD_OUT, divide, spread_blocks
from morphlm.learning.pace import WORDS_EXPONENT, TextSize
from morphlm.learning.record import PartRecord, TextRecord
from morphlm.learning.request import LearnRequest, look_at_inputs
from morphlm.tables import percent
from morphlm.text.preparation import Counts, PrepareOptions
from morphlm.text.prepare import keep_record, make_preparation
from morphlm.wording import option

REPEATED_WORDS = 5  # sentences of fewer words are repeated by chance
REPEATED_SHARE = 0.2  # of the development text, that is worth a warning
WORDS_SAMPLED = 200_000  # tokens by which the number of different words is estimated


def make_texts(
    request: LearnRequest,
    directory: LearnDirectory,
    say: Say,
    *,
    is_late: Callable[[], bool],
    affordable: Callable[[TextSize], int],
) -> TextRecord:
    """Collect, divide and write; `affordable` says how much training text there is time for."""
    make_folder(directory.texts)
    make_folder(directory.work)
    whole = directory.work / "collected.txt"
    with atomic_writer(whole) as out:
        collected = collect(request, out, say, is_late)
    given = {part: path for part, path in (("dev", request.dev), ("test", request.test)) if path is not None}
    starts = list(collected.document_starts)
    division = divide(collected.lengths, starts, [part for part in HELD_OUT if part not in given])
    part_of = division.part_of(len(collected.lengths))
    left_out = _leave_out(part_of, collected, whole, affordable)
    counts = _write_parts(whole, part_of, directory)
    for part, path in given.items():
        with atomic_writer(directory.text(part)) as out:
            other = collect_like(path, request, collected.options, out, say)
        counts[part] = (len(other.lengths), other.tokens)
    for part in PARTS:
        _write_record(directory.text(part), collected.options, *counts[part])
    repeated = _repeated_share(directory)
    for message in _notes(collected, repeated):
        collected.notes.append(message)
        say(message)
    whole.unlink()
    return TextRecord(
        language=collected.language or request.language,
        documents=collected.documents,
        whole_documents=division.whole_documents,
        lost=dict(collected.lost),
        left_out=left_out + _unread_tokens(request, collected),
        repeated=repeated,
        notes=tuple(collected.notes),
        parts={part: PartRecord(*counts[part], sha256_of(directory.text(part))) for part in PARTS},
    )


def _leave_out(part_of: list[str], collected: Collected, whole: Path, affordable: Callable[[TextSize], int]) -> int:
    """Mark training sentences that there is no time for; returns the number of their tokens."""
    numbers = [number for number, part in enumerate(part_of) if part == "train"]
    lengths = [collected.lengths[number] for number in numbers]
    tokens = sum(lengths)
    held_out = sum(collected.lengths) - tokens
    wanted = affordable(TextSize(tokens, _estimate_words(whole, tokens), held_out))
    if wanted >= tokens:
        return 0
    kept = {number for block in spread_blocks(lengths, wanted) for number in numbers[block.start : block.stop]}
    left_out = 0
    for number, length in zip(numbers, lengths, strict=True):
        if number not in kept:
            part_of[number] = ""
            left_out += length
    return left_out


def _estimate_words(path: Path, tokens: int) -> int:
    """How many different words a text has, by those of its beginning."""
    seen: set[bytes] = set()
    count = 0
    with path.open("rb") as lines:
        for line in lines:
            words = line.split()
            seen.update(words)
            count += len(words)
            if count >= WORDS_SAMPLED:
                break
    growth: float = max(1.0, tokens / max(1, count)) ** WORDS_EXPONENT
    return round(len(seen) * growth)


def _write_parts(whole: Path, part_of: Sequence[str], directory: LearnDirectory) -> dict[str, tuple[int, int]]:
    """Each sentence to the text of its part; gives the sentences and tokens of each."""
    counts = dict.fromkeys(PARTS, (0, 0))
    with ExitStack() as stack:
        needed = [part for part in PARTS if part in part_of]
        streams = {part: stack.enter_context(atomic_writer(directory.text(part))) for part in needed}
        lines = stack.enter_context(whole.open("rb"))
        for part, line in zip(part_of, lines, strict=True):
            if part:
                streams[part].write(line)
                sentences, tokens = counts[part]
                counts[part] = (sentences + 1, tokens + line.count(b" ") + 1)
    return counts


def _write_record(path: Path, options: PrepareOptions | None, sentences: int, tokens: int) -> None:
    """How it was prepared, beside the text: from there it gets into the models."""
    if options is not None:
        counts = Counts(lines=sentences, kept=sentences, sentences=sentences, tokens=tokens)
        keep_record(path, make_preparation(options, counts, path.stat().st_size, {}))


def _unread_tokens(request: LearnRequest, collected: Collected) -> int:
    """About how many tokens were not read for lack of time, by the size of the files."""
    files = [file for file in look_at_inputs(request) if file.role == "text"]
    if collected.is_whole or any(file.bytes is None or Path(file.name).suffix in COMPRESSIONS for file in files):
        return 0
    share = sum(file.bytes or 0 for file in files) / max(1, collected.bytes)
    return max(0, round(collected.tokens * (share - 1)))


def _notes(collected: Collected, repeated: float) -> Iterator[str]:
    if not collected.is_whole:
        yield f"warning: the text was not read to its end, for lack of time; give more {option('--minutes')}"
    if repeated > REPEATED_SHARE:
        yield (
            f"warning: {percent(repeated, 0)} of the sentences of the development text stand in the training text too, "
            "so its perplexity says little about new text; remove what is there twice"
        )


def _repeated_share(directory: LearnDirectory) -> float:
    """The share of the development sentences that the training text has too, short ones left out."""
    held_out = [line for line in directory.text("dev").read_bytes().split(b"\n") if line.count(b" ") >= REPEATED_WORDS]
    wanted = set(held_out)
    with directory.text("train").open("rb") as lines:
        found = {stripped for line in lines if (stripped := line.rstrip(b"\n")) in wanted}
    return sum(line in found for line in held_out) / max(1, len(held_out))


def write_part(source: Path, target: Path, tokens: int) -> None:
    """Blocks of a prepared text, spread over it, with about so many tokens."""
    with source.open("rb") as lines:
        lengths = array("i", (line.count(b" ") + 1 for line in lines))
    chosen = {number for block in spread_blocks(lengths, tokens) for number in block}
    with source.open("rb") as lines, atomic_writer(target) as out:
        out.writelines(line for number, line in enumerate(lines) if number in chosen)

"""README.txt of a directory of `learn`: what is in it and how to use it, with words of this very text."""

from __future__ import annotations

from pathlib import Path

from morphlm.learning.commands import next_commands
from morphlm.learning.record import LearnRecord
from morphlm.learning.schema import MIXTURE

CACHES = """THE TEXT BEFORE A SENTENCE

  The model has caches: it learns from the text before each sentence. `morphlm ppl` takes each file as one text;
  `morphlm score` and `morphlm rescore` take every line by itself, unless they are told --continuous. If your lines do
  not follow each other, learn again with --no-caches."""


def usage_text(root: Path, record: LearnRecord) -> str:
    """The whole file."""
    text, result = record.text, record.result
    assert text is not None
    assert result is not None
    parts = [
        f"{root.name}: a language model, learned by morphlm {record.version}",
        f"{result.headline}.",
        _content(result.kind),
        "TRY IT\n\n" + "\n\n".join(f"  {command}\n      {what}" for command, what in next_commands(root, record)),
        *([CACHES] if result.caches else []),
        _python(root, record),
        _repeat(record),
    ]
    return "\n\n".join(parts) + "\n"


def _content(kind: str) -> str:
    lines = [
        "WHAT IS HERE",
        "",
        "  model/          the model; commands take the folder that this file is in as MODEL",
    ]
    if kind == MIXTURE:
        lines.append("  vectors/        words.bin and morphemes.bin for other tools, in word2vec's binary format")
    lines += [
        "  segmenter/      the morphemes of words",
        "  report.html     a page on the model, for a browser",
        "  text/           the text as it was prepared and divided: train.txt, dev.txt, test.txt",
        "  learn.json      everything that was tried, chosen and measured",
    ]
    return "\n".join(lines)


def _python(root: Path, record: LearnRecord) -> str:
    result = record.result
    assert result is not None
    lines = ["IN PYTHON", "", "  import morphlm", f"  model = morphlm.load({str(root)!r})"]
    if result.beginnings:
        lines.append(f"  model.sentence({result.beginnings[0]!r})")
    if result.words and result.kind == MIXTURE:
        lines.append(f"  model.vectors.neighbours({result.words[0]!r})")
        lines.append("")
        lines.append("  from gensim.models import KeyedVectors  # another tool, with the vectors alone")
        lines.append(f"  KeyedVectors.load_word2vec_format({str(root / 'vectors' / 'words.bin')!r}, binary=True)")
    return "\n".join(lines)


def _repeat(record: LearnRecord) -> str:
    result = record.result
    assert result is not None
    commands = "\n".join(f"  {command}" for command in result.commands)
    return f"THE SAME MODEL AGAIN, to the byte on the same type of machine\n\n{commands}"

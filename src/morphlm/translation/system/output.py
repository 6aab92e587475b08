"""Translations as they leave the program: text, tokens, k-best lists as Moses or cdec write them, JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from morphlm.translation.decoder.translation import KBestTranslation, Translation
from morphlm.translation.system.kbest_lists import BAR, KBestNotation, escaped_tokens, format_features
from morphlm.translation.system.segments import Segment
from morphlm.translation.system.truecasing import TextWriter

Rendered = list[str] | dict[str, Any]  # lines, or an object
Renderer = Callable[[Segment, Translation | None], Rendered]


@dataclass(frozen=True)
class OutputOptions:
    """What is written for a sentence."""

    kbest: int | None = None  # so many translations, `number ||| tokens ||| features ||| score`, numbered from 0
    as_json: bool = False  # an object a line, with features and derivation, and the k best if asked for
    graph: bool = False  # also the graph of the search; only as JSON
    notation: KBestNotation = "moses"  # of the features in k-best lists
    scores: bool = False  # the score instead of the words, which are known
    constrained: bool = False  # whether something is asked of translations, so that there may be none


def renderer(options: OutputOptions, writer: TextWriter) -> Renderer:
    """What is to be worked out of a translation, by the thread that made it."""

    def render(segment: Segment, translation: Translation | None) -> Rendered:
        if translation is None:
            return _unreachable(options)
        if options.as_json:
            return _json(segment, translation, writer, options)
        if options.kbest is not None:
            return [kbest_fields(candidate, options.notation) for candidate in translation.kbest(options.kbest)]
        return [f"{translation.score:.6g}" if options.scores else writer.text_of(segment, translation.best)]

    return render


def _unreachable(options: OutputOptions) -> Rendered:
    """For a sentence whose constraint cannot be met."""
    if options.as_json:
        return {"reachable": False}
    if options.kbest is not None:
        return []
    return ["-inf" if options.scores else ""]


def _json(segment: Segment, translation: Translation, writer: TextWriter, options: OutputOptions) -> dict[str, Any]:
    reachable = {"reachable": True} if options.constrained else {}
    rendered = {**reachable, "text": writer.text_of(segment, translation.best), **translation.to_json()}
    if options.kbest is not None:
        rendered["kbest"] = [
            {"text": writer.text_of(segment, candidate), **candidate.to_json()}
            for candidate in translation.kbest(options.kbest)
        ]
    if options.graph:
        rendered["graph"] = translation.graph()
    return rendered


def kbest_fields(candidate: KBestTranslation, notation: KBestNotation = "moses") -> str:
    """All but the number: `tokens ||| Name= value Other= value ||| score`; a word ||| has a backslash before it."""
    features = format_features({name: (value,) for name, value in candidate.features.items()}, notation)
    return f"{escaped_tokens(candidate.tokens)} {BAR} {features} {BAR} {candidate.score:.6g}"


def numbered(
    line: int, rendered: list[str] | dict[str, Any], options: OutputOptions, number: int | None = None
) -> Iterator[str | dict[str, Any]]:
    """The lines of a sentence, or its object, with its line in the text, from 0, or the number that it has itself."""
    if isinstance(rendered, dict):
        yield {"line": line + 1, **({} if number is None else {"id": number}), **rendered}
    elif options.kbest is not None:
        yield from (f"{line if number is None else number} {BAR} {fields}" for fields in rendered)
    else:
        yield from rendered

"""Translations as they leave the program: text, tokens, k-best lists as Moses writes them, JSON."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from morphlm.translation.decoder.translation import KBestTranslation, Translation
from morphlm.translation.system.config import SystemConfig

BAR = "|||"
Rendered = list[str] | dict[str, Any]  # lines, or an object


@dataclass(frozen=True)
class OutputOptions:
    """What is written for a sentence."""

    tokenised: bool = False  # tokens between spaces, not put together again
    kbest: int | None = None  # so many translations, `number ||| tokens ||| features ||| score`, numbered from 0
    as_json: bool = False  # an object a line, with features and derivation, and the k best if asked for
    graph: bool = False  # also the graph of the search; only as JSON


def renderer(options: OutputOptions, config: SystemConfig) -> Callable[[Translation], Rendered]:
    """What is to be worked out of a translation, by the thread that made it."""

    def text_of(tokens: tuple[str, ...]) -> str:
        return " ".join(tokens) if options.tokenised else config.text_of(tokens)

    def render(translation: Translation) -> Rendered:
        if options.as_json:
            return _json(translation, text_of, options)
        if options.kbest is not None:
            return [kbest_fields(candidate) for candidate in translation.kbest(options.kbest)]
        return [text_of(translation.tokens)]

    return render


def _json(
    translation: Translation, text_of: Callable[[tuple[str, ...]], str], options: OutputOptions
) -> dict[str, Any]:
    rendered = {"text": text_of(translation.tokens), **translation.to_json()}
    if options.kbest is not None:
        rendered["kbest"] = [
            {"text": text_of(candidate.tokens), **candidate.to_json()} for candidate in translation.kbest(options.kbest)
        ]
    if options.graph:
        rendered["graph"] = translation.graph()
    return rendered


def kbest_fields(candidate: KBestTranslation) -> str:
    """All but the number: `tokens ||| Name= value Other= value ||| score`; a word ||| has a backslash before it."""
    tokens = " ".join("\\" + token if token.lstrip("\\") == BAR else token for token in candidate.tokens)
    features = " ".join(f"{name}= {value:.6g}" for name, value in candidate.features.items())
    return f"{tokens} {BAR} {features} {BAR} {candidate.score:.6g}"


def numbered(
    number: int, rendered: list[str] | dict[str, Any], options: OutputOptions
) -> Iterator[str | dict[str, Any]]:
    """The lines of a sentence, or its object, with its number in the text, from 0."""
    if isinstance(rendered, dict):
        yield {"line": number + 1, **rendered}
    elif options.kbest is not None:
        yield from (f"{number} {BAR} {fields}" for fields in rendered)
    else:
        yield from rendered

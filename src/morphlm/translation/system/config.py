"""The settings of a translation system, and how its text is prepared: as in the paper, but with its digits.

A language model whose own text had 0 for every digit looks words up in that form; the translation keeps them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from morphlm.display import dataclass_repr
from morphlm.errors import FormatError, MorphlmError, located
from morphlm.settings import Settings, setting
from morphlm.text.parallel_pairs import MAX_RATIO, PairOptions, pair_options
from morphlm.text.prepare import prepare_beginning, prepare_line
from morphlm.text.reading import Block, Mending
from morphlm.text.tokenise import moses_detokenise
from morphlm.translation.alignment.config import AlignmentConfig
from morphlm.translation.decoder.config import DecoderConfig
from morphlm.translation.grammar.config import GrammarConfig
from morphlm.wording import option

SOURCE, TARGET = 0, 1

Languages = tuple[str | None, str | None]


def how_to_mend() -> str:
    """What is said of text to translate that cannot be read as it is."""
    return f"{option('--mend', True)} does it"


@dataclass(frozen=True)
class SystemConfig(Settings):
    """Everything but the texts, the models and the weights."""

    languages: Languages = (None, None)  # source and target; the tokeniser needs them
    tokenise: bool = setting(
        True,
        "Moses tokenisation of what is read; what is written is put together again.",
        option="--tokenise/--no-tokenise",
    )
    lowercase: bool = setting(True, "All in small letters.", option="--lowercase/--no-lowercase")
    max_tokens: int = setting(80, "Drop training pairs with a longer side; 0 keeps all.", at_least=0)
    max_ratio: float = setting(
        MAX_RATIO,
        "Drop training pairs whose longer side has more than so many times the tokens of the shorter; 0 keeps all.",
        at_least=0,
    )
    alignment: AlignmentConfig = field(default_factory=AlignmentConfig)
    grammar: GrammarConfig = field(default_factory=GrammarConfig)
    decoder: DecoderConfig = field(default_factory=DecoderConfig)

    __repr__ = dataclass_repr

    def __post_init__(self) -> None:
        super().__post_init__()
        self.pair_options()

    def pair_options(self) -> PairOptions:
        """How training text is prepared."""
        return pair_options(
            self.languages,
            tokeniser="moses" if self.tokenise else "none",
            case="lower" if self.lowercase else "keep",
            digits=False,
            max_tokens=self.max_tokens,
            max_ratio=self.max_ratio,
            cyrillic_share=0.0,  # else foreign names would be <unk>
        )

    def prepare(self, line: str, side: int = SOURCE, repairs: Counter[str] | None = None) -> list[str]:
        """The tokens of a line; none is dropped, but for marks of our own if `repairs` are to be counted."""
        return prepare_line(line, self.pair_options().sides[side], repairs)

    def cased_tokens(self, line: str, tokens: Sequence[str], side: int = SOURCE) -> tuple[str, ...] | None:
        """The tokens of a line with their capitals; None if case changes how it is cut."""
        options = self.pair_options().sides[side]
        cased = prepare_line(line, replace(options, case="keep"), Counter())
        is_same = len(cased) == len(tokens) and all(
            prepare_beginning(one, options) == other for one, other in zip(cased, tokens, strict=True)
        )
        return tuple(cased) if is_same else None

    def sentences(self, block: Block, side: int = SOURCE, *, mending: Mending | None = None) -> Iterator[list[str]]:
        """The tokens of each line of a block."""
        repairs = None if mending is None else mending.repairs
        for number, line in enumerate(block.lines(), block.first_line):
            with located(block.source, number):
                tokens = self.prepare(line, side, repairs)
            yield tokens

    def text_of(self, tokens: Sequence[str]) -> str:
        """A translation as a person would write it; small letters stay small."""
        language = self.languages[TARGET]
        return moses_detokenise(tokens, language) if self.tokenise and language else " ".join(tokens)

    def with_decoder(self, **changes: Any) -> SystemConfig:
        """The same with other settings of the search."""
        return replace(self, decoder=replace(self.decoder, **changes))

    def to_json(self) -> dict[str, Any]:
        return asdict(self) | {"languages": list(self.languages)}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> SystemConfig:
        """The reverse; a FormatError for anything else."""
        try:
            parts = {"alignment": AlignmentConfig, "grammar": GrammarConfig, "decoder": DecoderConfig}
            values = {name: parts[name](**value) if name in parts else value for name, value in content.items()}
            source, target = values.pop("languages")
            return cls(languages=(source, target), **values)
        except (MorphlmError, TypeError, ValueError, KeyError, AttributeError) as error:
            raise FormatError(f"not the settings of a translation system ({error})") from error

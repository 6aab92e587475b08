"""Weights and features of cdec and Moses in terms of ours, and the other way round.

The systems count the same things in different units: where theirs = factor x ours, a weight of ours is factor x theirs,
so that the product stays. Their units, as their decoders compute them:

- cdec: `LanguageModel` is log10 p, `WordPenalty` is -1 / ln 10 for each word; `Glue` and `PassThrough` are counts, and
  so are `Arity_0` to `Arity_2`, which count all rules, those that glue too.
- Moses: `LM0` is ln p (a second value counts unknown words), `WordPenalty0` is -1 for each word, `UnknownWordPenalty0`
  is -100 for each word that is left as it is, `PhrasePenalty0` counts all rules, those of the glue grammar too.

Features of rules stand in grammar files, which all decoders take as they are, so they need no conversion.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from morphlm.errors import ConfigError
from morphlm.scoring.kbest import Values, read_weights
from morphlm.tables import counted
from morphlm.translation.decoder.config import GLUE, OOV, PASS_THROUGH, RULE_PENALTY, WORD_PENALTY
from morphlm.wording import either, option

SystemName = Literal["morphlm", "cdec", "moses"]
SYSTEMS: tuple[SystemName, ...] = ("morphlm", "cdec", "moses")
LN10 = math.log(10)
CDEC_MODEL = "LanguageModel"
_ARITY = "Arity_"
CDEC_ARITIES = ("Arity_0", "Arity_1", "Arity_2")  # of feature_function=ArityPenalty
UNKNOWN_WORD_SCORE = -100.0  # Moses' floor of a log-probability
MOSES_PHRASE_PENALTY, MOSES_GLUE, MOSES_RULES = "PhrasePenalty0", "TranslationModel1", "TranslationModel0"
MOSES_RULE_FEATURES = ("FgivenE", "LexFgivenE", "EgivenF", "LexEgivenF")  # the order of a table of rules

Place = tuple[str, int]  # the name of a feature and the position among its values


@dataclass(frozen=True)
class Counterpart:
    """A feature of ours and the same of another decoder: theirs = factor x ours."""

    ours: str
    theirs: Place
    factor: float


# What cdec's own extractor puts into grammars, as far as ours has the like. Its CountEF is log10 (1 + c), ours is ln c.
_CDEC_EXTRACTOR = (
    Counterpart("EgivenF", ("EgivenFCoherent", 0), -1 / LN10),
    Counterpart("LexFgivenE", ("MaxLexFgivenE", 0), -1 / LN10),
    Counterpart("LexEgivenF", ("MaxLexEgivenF", 0), -1 / LN10),
    Counterpart("CountEF", ("CountEF", 0), 1 / LN10),
    Counterpart("SampleCountF", ("SampleCountF", 0), 1 / LN10),
)
_FIXED = {
    "cdec": (Counterpart(WORD_PENALTY, (WORD_PENALTY, 0), -1 / LN10),),
    "moses": (
        Counterpart(WORD_PENALTY, ("WordPenalty0", 0), -1.0),
        Counterpart(PASS_THROUGH, ("UnknownWordPenalty0", 0), UNKNOWN_WORD_SCORE),
        *(Counterpart(name, (MOSES_RULES, position), 1.0) for position, name in enumerate(MOSES_RULE_FEATURES)),
    ),
}


@dataclass(frozen=True)
class FeatureNames:
    """Which features are of language models, and whether those of cdec's own extractor are converted."""

    models: Mapping[str, str] | None = None  # our name -> theirs; others are recognised
    extractor: bool = False
    by_unknown_words: bool = True  # whether those of cdec are recognised by NAME_OOV; not where zeros are left out

    def counterparts(self, system: SystemName, ours: Mapping[str, object], theirs: Values) -> Iterator[Counterpart]:
        """Of the features that are there, on either side; what is not listed has the same name and unit in both."""
        yield from _FIXED[system]
        if self.extractor:
            if system != "cdec":
                raise ConfigError(f"{option('--extractor', True)} is about cdec's extractor; leave it out")
            yield from _CDEC_EXTRACTOR
        for name, other in self._model_names(system, ours, theirs).items():
            yield Counterpart(name, (other, 0), 1 / LN10 if system == "cdec" else 1.0)
            yield Counterpart(name + OOV, (other + OOV, 0) if system == "cdec" else (other, 1), 1.0)

    def _model_names(self, system: SystemName, ours: Mapping[str, object], theirs: Values) -> dict[str, str]:
        """Our names of language models -> theirs."""
        given = dict(self.models or {})
        if len(set(given.values())) < len(given):
            raise ConfigError("two language models have one name in the other system; give each its own")
        default = CDEC_MODEL if system == "cdec" else "LM0"
        names = [name for name in ours if name + OOV in ours or name == "LM0"]
        found = {name: default if len(names) == 1 else name for name in names}
        if default in theirs:
            found.setdefault("LM0", default)
        for name in theirs:
            if self._is_model(name, system, theirs) and name != default:
                found.setdefault(name, name)
        return {name: other for name, other in found.items() if other not in given.values()} | given

    def _is_model(self, name: str, system: SystemName, theirs: Values) -> bool:
        if system == "moses":
            return name.startswith("LM") and name[2:].isdecimal()
        return self.by_unknown_words and name + OOV in theirs

    def check_models(self, theirs: Values) -> None:
        """Refuse features of a list of cdec's that seem to be of a language model which is not named."""
        named = {CDEC_MODEL, *(self.models or {}).values()}
        for name in theirs:
            if name.endswith(OOV) and name.removesuffix(OOV) not in named:
                model = name.removesuffix(OOV)
                raise ConfigError(
                    f"{model} seems to be a language model, as there is {name}; name it by "
                    f"{either(f'--lm {model}={model}', f'models={{{model!r}: {model!r}}}')}"
                )


def import_weights(
    weights: str | Path | Values,
    system: SystemName,
    *,
    models: Mapping[str, str] | None = None,
    extractor: bool = False,
) -> dict[str, float]:
    """Weights of another `system`, "cdec" or "moses", from a file or by name, as weights of ours.

    `models` maps our names of language models to theirs; else `LanguageModel` (cdec) or `LM0` (Moses) is our LM0, and
    others keep their names. With `extractor`, weights of the features of cdec's own extractor become weights of ours
    that are the nearest to them.
    """
    values = read_weights(str(weights)) if isinstance(weights, str | Path) else weights
    if system == "morphlm":
        return _singles(values)
    counterparts = list(FeatureNames(models, extractor).counterparts(system, {}, values))
    if system == "moses":
        _check_moses(values)
    result = to_ours(values, counterparts, weights=True)
    if system == "moses":
        _import_penalties(result)
    else:
        _import_arities(result)
    return result


def export_weights(
    weights: Mapping[str, float],
    system: SystemName,
    *,
    models: Mapping[str, str] | None = None,
    extractor: bool = False,
) -> dict[str, tuple[float, ...]]:
    """Weights of ours as weights of another `system`; `models` and `extractor` are as of `import_weights`.

    A language model is recognised by the weight of its unknown words, `NAME_OOV`; if there is one, it is called as the
    other system calls its first.
    """
    if system == "morphlm":
        return {name: (weight,) for name, weight in weights.items()}
    changed = dict(weights)
    if system == "moses":
        _export_penalties(changed)
    else:
        _export_arities(changed)
    counterparts = list(FeatureNames(models, extractor).counterparts(system, weights, {}))
    result = from_ours(changed, counterparts, weights=True)
    if MOSES_RULES in result:
        result[MOSES_RULES] += (0.0,) * (len(MOSES_RULE_FEATURES) - len(result[MOSES_RULES]))
    return result


def to_ours(values: Values, counterparts: list[Counterpart], *, weights: bool) -> dict[str, float]:
    """Features of another decoder, or weights of them, as ours."""
    by_place = {counterpart.theirs: counterpart for counterpart in counterparts}
    result: dict[str, float] = {}
    for name, numbers in values.items():
        for position, number in enumerate(numbers):
            found = by_place.get((name, position))
            if found is None and len(numbers) > 1 and weights:
                raise ConfigError(
                    f"{name} has {counted(len(numbers), 'value')}, and a feature of ours has one; if it is a language "
                    f"model, name it by {either('--lm', 'models=')}"
                )
            same = name if len(numbers) == 1 else f"{name}_{position}"
            own = same if found is None else found.ours
            factor = 1.0 if found is None else found.factor
            if own in result:
                raise ConfigError(
                    f"two features would be called {own}; name the language models by {either('--lm', 'models=')}"
                )
            result[own] = number * factor if weights else number / factor
    return result


def from_ours(
    values: Mapping[str, float], counterparts: list[Counterpart], *, weights: bool
) -> dict[str, tuple[float, ...]]:
    """Our features, or weights of them, as those of another decoder."""
    by_name = {counterpart.ours: counterpart for counterpart in counterparts}
    places: dict[str, dict[int, float]] = {}
    for name, value in values.items():
        found = by_name.get(name, Counterpart(name, (name, 0), 1.0))
        theirs, position = found.theirs
        if position in places.setdefault(theirs, {}):
            raise ConfigError(
                f"two features would be called {theirs}; name the language models by {either('--lm', 'models=')}"
            )
        places[theirs][position] = value / found.factor if weights else value * found.factor
    return {name: tuple(row.get(k, 0.0) for k in range(max(row) + 1)) for name, row in places.items()}


# ---------------------------------------------------------------- cdec


def _export_arities(weights: dict[str, float]) -> None:
    """cdec's ArityPenalty has a feature for rules with 0, 1 and 2 gaps each; the glue rule has two gaps."""
    penalty = weights.pop(RULE_PENALTY, 0.0)
    if penalty:
        weights |= dict.fromkeys(CDEC_ARITIES, penalty)
        weights[GLUE] = weights.get(GLUE, 0.0) - penalty


def _import_arities(weights: dict[str, float]) -> None:
    found = {name: weights.pop(name) for name in list(weights) if name.startswith(_ARITY)}
    if not any(found.values()):
        return
    if tuple(sorted(found)) != CDEC_ARITIES or len(set(found.values())) > 1:
        raise ConfigError(
            f"the weights of {', '.join(sorted(found))} differ; only equal ones of {', '.join(CDEC_ARITIES)} are like "
            f"our {RULE_PENALTY}, convert them by hand"
        )
    weights[RULE_PENALTY] = found[CDEC_ARITIES[0]]
    weights[GLUE] = weights.get(GLUE, 0.0) + found[CDEC_ARITIES[0]]


def _called_twice(name: str) -> ConfigError:
    remedy = f"name the language models by {either('--lm', 'models=')}"
    return ConfigError(f"two features would be called {name}; {remedy}")


# ---------------------------------------------------------------- Moses


def _check_moses(values: Values) -> None:
    sizes = {MOSES_RULES: len(MOSES_RULE_FEATURES), MOSES_GLUE: 1}
    for name, size in sizes.items():
        if name in values and len(values[name]) != size:
            raise ConfigError(
                f"{name} has {counted(len(values[name]), 'weight')}; those of a hierarchical system of Moses "
                f"have {size}, convert the others by hand"
            )


def _import_penalties(weights: dict[str, float]) -> None:
    """Moses' phrase penalty also counts the rules of the glue grammar."""
    penalty, glue = weights.pop(MOSES_PHRASE_PENALTY, None), weights.pop(MOSES_GLUE, None)
    if penalty is not None:
        weights[RULE_PENALTY] = penalty
    if penalty is not None or glue is not None:
        weights[GLUE] = (glue or 0.0) + (penalty or 0.0)


def _export_penalties(weights: dict[str, float]) -> None:
    penalty, glue = weights.pop(RULE_PENALTY, 0.0), weights.pop(GLUE, 0.0)
    weights[MOSES_PHRASE_PENALTY], weights[MOSES_GLUE] = penalty, glue - penalty


def _singles(values: Values) -> dict[str, float]:
    for name, numbers in values.items():
        if len(numbers) != 1:
            raise ConfigError(f"{name} has {counted(len(numbers), 'weight')}; a feature of ours has one")
    return {name: numbers[0] for name, numbers in values.items()}


# ---------------------------------------------------------------- text


def format_weights(weights: Values, system: SystemName) -> str:
    """Weights as the decoder reads them from a file: lines `Name 0.5`, or the section [weight] of a moses.ini."""
    rows = [(name, " ".join(f"{number:.9g}" for number in numbers)) for name, numbers in weights.items()]
    if system == "moses":
        return "[weight]\n" + "".join(f"{name}= {numbers}\n" for name, numbers in rows)
    return "".join(f"{name} {numbers}\n" for name, numbers in rows)

"""The signature that every reported number carries, so that two numbers are only compared when they can be."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Signature:
    """Ordered `name:value` fields after the name of the measure, as sacreBLEU's: `ppl|model:mkn|n:4|V:46k|...`."""

    measure: str
    fields: tuple[tuple[str, str], ...]

    def __str__(self) -> str:
        return "|".join([self.measure, *(f"{name}:{value}" for name, value in self.fields)])

    def value(self, name: str) -> str | None:
        """The value of a field; None if there is none."""
        return dict(self.fields).get(name)

    def with_field(self, name: str, value: str, *, after: str) -> Signature:
        """A copy with another value of a field, or with a new field after one that is there."""
        fields = dict(self.fields)
        if name in fields:
            return Signature(self.measure, tuple((fields | {name: value}).items()))
        at = list(fields).index(after) + 1
        return Signature(self.measure, (*self.fields[:at], (name, value), *self.fields[at:]))


def common_signature(signatures: list[Signature]) -> tuple[Signature, list[str]]:
    """What all signatures share, and the names of the fields in which they differ."""
    names = list(dict.fromkeys(name for signature in signatures for name, _ in signature.fields))
    differing = [name for name in names if len({signature.value(name) for signature in signatures}) > 1]
    shared = tuple((name, signatures[0].value(name) or "") for name in names if name not in differing)
    return Signature(signatures[0].measure, shared), differing


def in_thousands(number: int) -> str:
    """46123 as '46k'; below a thousand exactly; from a million on '1.2m'."""
    if number < 1_000:
        return str(number)
    return f"{round(number / 1_000)}k" if number < 999_500 else f"{number / 1_000_000:.1f}m"

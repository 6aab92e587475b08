"""HTML entities that were left in a text (`&amp;`, `&nbsp;`, `&#8222;`) become the characters that they stand for.

What comes out has no entity, also after lowercasing and with digits as 0, so that prepared text stays as it is.
"""

from __future__ import annotations

import re
from collections import Counter
from html.entities import name2codepoint

REPAIR = "HTML entities replaced"

_ENTITY = re.compile(r"&(?:#(?:[xX](?P<hexadecimal>[\da-fA-F]{1,6})|(?P<decimal>\d{1,7}))|(?P<name>[^\W_]{2,8}));")
_CHARACTERS = {name: chr(code) for name, code in name2codepoint.items()} | {"apos": "'"}
_MOST_ESCAPED = 10  # times; what is escaped more often was made to take time
_SMALLEST, _LARGEST, _SURROGATES = 0x20, 0x10FFFF, range(0xD800, 0xE000)


def replace_entities(text: str, repairs: Counter[str] | None = None) -> str:
    """The text with the characters themselves, also where an entity was escaped once more (`&amp;nbsp;`).

    Names are those of HTML 4, in capitals too; other words between & and ; stay. `repairs` counts the entities.
    """
    for escaped in range(_MOST_ESCAPED):
        replaced = _ENTITY.sub(_character, text) if "&" in text else text
        if replaced == text:
            return text
        if repairs is not None and not escaped:
            repairs[REPAIR] += sum(_character(entity) != entity[0] for entity in _ENTITY.finditer(text))
        text = replaced
    return _ENTITY.sub(lambda entity: entity[0] if _character(entity) == entity[0] else " ", text)


def _character(entity: re.Match[str]) -> str:
    """What an entity stands for; a space for what is no visible character, itself for a name that is none."""
    name = entity["name"]
    if name is not None:
        small = name.replace("İ", "i").lower()
        return _CHARACTERS.get(name) or _CHARACTERS.get(small) or entity[0]
    code = int(entity["decimal"]) if entity["decimal"] else int(entity["hexadecimal"], 16)
    is_visible = _SMALLEST <= code <= _LARGEST and code not in _SURROGATES
    return chr(code) if is_visible else " "

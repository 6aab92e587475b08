"""The languages of LibreOffice's help that Debian has packages of: their codes, names, and what is special.

A region is part of the code where there are several (pt and pt-br); English is that of the United States.
"""

from __future__ import annotations

from morphlm.errors import ConfigError, nearest_names

NAMES = {
    "ca": "Catalan",
    "cs": "Czech",
    "da": "Danish",
    "de": "German",
    "dz": "Dzongkha",
    "el": "Greek",
    "en": "English",
    "en-gb": "British English",
    "es": "Spanish",
    "et": "Estonian",
    "eu": "Basque",
    "fi": "Finnish",
    "fr": "French",
    "gl": "Galician",
    "hi": "Hindi",
    "hu": "Hungarian",
    "id": "Indonesian",
    "it": "Italian",
    "ja": "Japanese",
    "km": "Khmer",
    "ko": "Korean",
    "nl": "Dutch",
    "om": "Oromo",
    "pl": "Polish",
    "pt": "Portuguese",
    "pt-br": "Brazilian Portuguese",
    "ru": "Russian",
    "sl": "Slovenian",
    "sv": "Swedish",
    "tr": "Turkish",
    "vi": "Vietnamese",
    "zh-cn": "Chinese in simplified script",
    "zh-tw": "Chinese in traditional script",
}
LANGUAGES = tuple(NAMES)
ENGLISH = frozenset(("en", "en-gb"))
WITHOUT_SPACES = frozenset(("dz", "ja", "km", "zh-cn", "zh-tw"))  # between words
_PACKAGES = {"en": "en-us"}  # where the package has another code
_CODES = {"en-us": "en", "zh-hans": "zh-cn", "zh-hant": "zh-tw"}
_NOT_TRANSLATED = {"sk": "Debian's package for Slovak holds the Czech pages"}


def package_of(language: str) -> str:
    """The name of the Debian package."""
    return f"libreoffice-help-{_PACKAGES.get(language, language)}"


def find_language(given: str) -> str:
    """The code of a language as it is written here: pt_BR is pt-br, en-us is en."""
    code = given.lower().replace("_", "-")
    code = _CODES.get(code, code)
    if code in NAMES:
        return code
    if code in _NOT_TRANSLATED:
        raise ConfigError(
            f"libreoffice-help has no text in {given!r}: {_NOT_TRANSLATED[code]}; choose another language"
        )
    raise ConfigError(f"libreoffice-help has no text in {given!r}; {_advice(code)}")


def _advice(code: str) -> str:
    """The same language in another region, or the code of a language's name; else all codes."""
    base = code.partition("-")[0]
    related = [known for known in LANGUAGES if known.partition("-")[0] == base]
    by_name = {name.lower(): known for known, name in NAMES.items()}
    related = related or [by_name[name] for name in nearest_names(code, list(by_name))]
    if related:
        return f"do you mean {' or '.join(f'{known} ({NAMES[known]})' for known in related)}?"
    return f"choose one of {', '.join(LANGUAGES)}"


def needs_segmenting(language: str) -> str | None:
    """For languages that are written without spaces between words: what to do about it."""
    if language not in WITHOUT_SPACES:
        return None
    return (
        f"{NAMES[language]} is written without spaces between words; put spaces between them with a word segmenter for "
        "this language before you train"
    )

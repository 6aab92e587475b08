"""The demo's text in all its languages: gets each and prints how much of it there is, as a Markdown table.

    python benchmarks/help_languages.py [CODE ...]

Needs Debian's or Ubuntu's packages, and about 8 CPU seconds a language.
"""

from __future__ import annotations

import argparse
import tempfile
from collections import Counter
from pathlib import Path

from morphlm.text.datasets import DataFolder, get_dataset
from morphlm.text.datasets.help_languages import LANGUAGES, NAMES, WITHOUT_SPACES, find_language, package_of


def counts(folder: DataFolder) -> Counter[str]:
    """Lines and words between spaces, of all parts together and of the training text alone."""
    found: Counter[str] = Counter()
    for name, facts in folder.files.items():
        found["lines"] += facts.lines
        found["words"] += facts.words
        if name.startswith("train."):
            found["train"] += facts.words
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("codes", nargs="*", metavar="CODE", help="of languages; default: all")
    options = parser.parse_args()
    print("| code | language | lines | words | of these to train on | package |\n|---|---|---|---|---|---|")
    for language in map(find_language, options.codes or LANGUAGES):
        with tempfile.TemporaryDirectory() as place:
            folder = get_dataset("libreoffice-help", Path(place) / language, language=language)
            found = counts(folder)
        words = [f"{found[name]:,}" if language not in WITHOUT_SPACES else "" for name in ("words", "train")]
        version = folder.source["packages"][package_of(language)].partition(":")[2].partition("-")[0]
        name = NAMES[language] + ("; no spaces between words" if language in WITHOUT_SPACES else "")
        print(f"| {language} | {name} | {found['lines']:,} | {words[0]} | {words[1]} | {version} |", flush=True)


if __name__ == "__main__":
    main()

"""Pictures of results as SVG, PNG or PDF: the last step before a person looks.

`figure_of` finds how a result is drawn by its type; the modules of this package draw, one a kind of result, and
`style` is what they share. matplotlib is imported only when something is drawn.
"""

from __future__ import annotations

import hashlib
import io
import re
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from morphlm.analysis.groups import GroupComparison
from morphlm.analysis.learning_curves import LearningCurves
from morphlm.analysis.morpheme_map import MorphemeMap
from morphlm.analysis.pruning import Pruning
from morphlm.analysis.scaling import Scaling
from morphlm.analysis.selection import Selection
from morphlm.errors import ConfigError
from morphlm.extras import check_extra
from morphlm.files import atomic_writer, check_can_write
from morphlm.progress import notify

if TYPE_CHECKING:  # it takes a second to import
    from matplotlib.figure import Figure

__all__ = ["Picturable", "check_can_draw", "check_picture", "figure_of", "picture_svg", "save_picture"]

Picturable = GroupComparison | Sequence[GroupComparison] | Selection | Scaling | Pruning | MorphemeMap | LearningCurves
# Without dates and versions, equal results give equal bytes.
METADATA: dict[str, dict[str, Any]] = {
    ".svg": {"Date": None, "Creator": None},
    ".png": {"Software": None},
    ".pdf": {"CreationDate": None, "Creator": None, "Producer": None},
}
DOTS_PER_INCH = 150


def figure_of(result: Picturable) -> Figure:
    """The picture of any result of an analysis; of several comparisons by groups, one beside the other."""
    check_can_draw()
    from morphlm.report.pictures.style import styled  # noqa: PLC0415 (imports matplotlib)

    with styled():
        return _drawing(result)(result)


def _drawing(result: Any) -> Callable[[Any], Figure]:
    from morphlm.report.pictures import curves, groups, morpheme_map, pruning, scaling, selection  # noqa: PLC0415

    several = (
        isinstance(result, Sequence)
        and result
        and all(isinstance(comparison, GroupComparison) for comparison in result)
    )
    drawings: dict[type, Callable[[Any], Figure]] = {
        GroupComparison: lambda comparison: groups.draw([comparison]),
        Selection: selection.draw,
        Scaling: scaling.draw,
        Pruning: pruning.draw,
        MorphemeMap: morpheme_map.draw,
        LearningCurves: curves.draw,
    }
    if several:
        return groups.draw
    if type(result) not in drawings:
        raise ConfigError(f"there is no picture of a {type(result).__name__}; give the result of an analysis")
    return drawings[type(result)]


def picture_svg(result: Picturable) -> str:
    """The picture of the `result` of an analysis as an SVG element for an HTML page; its ids are its own."""
    text = _rendered(result, ".svg").decode()
    text = re.sub(r" <metadata>.*?</metadata>\n", "", text[text.index("<svg") :], flags=re.DOTALL)
    text = re.sub(r' id="[a-zA-Z0-9]+_[0-9]+"', "", text)  # matplotlib's names of parts, to which nothing refers
    own = hashlib.sha256(text.encode()).hexdigest()[:8]
    return re.sub(r'(\bid="|href="#|url\(#)', rf"\g<1>{own}-", text)


def check_picture(path: str | Path) -> None:
    """Refuse a picture that cannot be written, before any work is done."""
    if Path(path).suffix.lower() not in METADATA:
        raise ConfigError(f"{path}: a picture is a file that ends in {', '.join(METADATA)}; rename it")
    check_can_draw()
    check_can_write(path)


def check_can_draw() -> None:
    """Refuse where the extra is missing that draws."""
    check_extra("matplotlib", "pictures", "pictures need")


def save_picture(result: Picturable, path: str | Path) -> None:
    """Write the picture of a result; the ending of the name says what it is. It appears when it is complete."""
    check_picture(path)
    content = _rendered(result, Path(path).suffix.lower())
    with atomic_writer(path) as file:
        file.write(content)


def _rendered(result: Picturable, extension: str) -> bytes:
    check_can_draw()
    from morphlm.report.pictures.style import styled  # noqa: PLC0415 (imports matplotlib)

    content = io.BytesIO()
    figure = figure_of(result)
    with styled(), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        figure.savefig(content, format=extension[1:], dpi=DOTS_PER_INCH, metadata=METADATA[extension])
    _tell_of_missing_letters([str(warning.message) for warning in caught], extension)
    return _portable(content.getvalue()) if extension == ".svg" else content.getvalue()


def _tell_of_missing_letters(warned: Sequence[str], extension: str) -> None:
    """The font that comes with matplotlib has Latin, Greek, Cyrillic, Arabic and more, but not all letters."""
    if extension != ".svg" and any("missing from font" in message for message in warned):
        notify(
            "warning: some letters are not in the font and show as boxes; an .svg shows them with your system's fonts"
        )


def _portable(svg: bytes) -> bytes:
    """Fonts of about the same width for systems without ours, and no rules that would hold for a whole page."""
    text = svg.decode().replace("'DejaVu Sans'", "'DejaVu Sans', Verdana, sans-serif")
    rules = re.search(r" *<defs>\s*<style[^>]*>\*\{(.*?)\}</style>\s*</defs>\n", text)
    if rules is not None:
        text = text.replace(rules[0], "", 1).replace("<svg ", f'<svg style="{rules[1]}" ', 1)
    return re.sub(r"[ \t]+$", "", text, flags=re.MULTILINE).encode()

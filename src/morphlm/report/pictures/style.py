"""What all pictures share: colours that colour-blind people tell apart, the font, and how changes are shown."""

from __future__ import annotations

import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator

from morphlm.analysis.bootstrap import PerplexityChange
from morphlm.tables import percent

# Okabe and Ito's palette, which is made for all kinds of colour vision.
BLUE, VERMILION, GREEN, ORANGE, SKY, PURPLE = "#0072B2", "#D55E00", "#009E73", "#E69F00", "#56B4E9", "#CC79A7"
INK, GREY, PALE = "#222222", "#767676", "#DDDDDD"
COLOURS = (BLUE, VERMILION, GREEN, PURPLE, ORANGE, SKY, INK)
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
DASHES = ("-", "--", "-.", ":")
JOINERS = "\u200c\u200d"  # invisible, but part of words in some scripts
LONGEST = 28  # characters of a name; longer ones are cut

STYLE: dict[str, Any] = {
    "font.family": "DejaVu Sans",  # comes with matplotlib
    "font.size": 9,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "axes.edgecolor": GREY,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.axisbelow": True,
    "axes.unicode_minus": True,
    "grid.color": PALE,
    "grid.linewidth": 0.6,
    "hatch.linewidth": 0.6,
    "legend.frameon": False,
    "text.color": INK,
    "text.parse_math": False,  # a dollar is a dollar
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": INK,
    "ytick.labelcolor": INK,
    "svg.fonttype": "none",  # text stays text: it can be searched, and any script shows
    "svg.hashsalt": "morphlm",
    "pdf.fonttype": 42,
}
_LOCK = threading.Lock()


@contextmanager
def styled() -> Iterator[None]:
    """Draw in our style and leave matplotlib's settings as they were; one at a time, since they are global."""
    settings: Any = {**matplotlib.rcParamsDefault, **STYLE}  # not what a file of the user's says
    del settings["backend"]
    with _LOCK, matplotlib.rc_context(settings), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font")  # told once, when the picture is saved
        yield


def new_figure(width: float, height: float) -> Figure:
    """An empty figure, in inches, whose parts make room for one another."""
    figure = Figure(figsize=(width, height), layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    return figure


def shortened(name: str, longest: int = LONGEST) -> str:
    """A name that fits and can be written; what is cut off at the end shows as dots."""
    shown = "".join(letter if letter.isprintable() or letter in JOINERS else "�" for letter in name)
    return shown if len(shown) <= longest else shown[: longest - 1] + "…"


def file_name(text: str) -> str:
    """The name of a text without its folders, shortened."""
    return shortened(text.rstrip("/").rpartition("/")[2] or text, 40)


def percent_axis(axes: Axes, direction: str) -> None:
    """Relative changes along an axis, with a line at zero."""
    axis = axes.xaxis if direction == "x" else axes.yaxis
    axis.set_major_locator(MaxNLocator(7, steps=[1, 2, 2.5, 5, 10]))
    axis.set_major_formatter(FuncFormatter(lambda value, _: _tick(value)))
    axis.grid(True)
    (axes.axvline if direction == "x" else axes.axhline)(0, color=INK, linewidth=0.8, zorder=3)


def _tick(value: float) -> str:
    return f"{round(100 * value, 6):g} %".replace("-", "−")


def errors_of(changes: Sequence[PerplexityChange]) -> Any:
    """How far whiskers reach to both sides of the values, (2, n); nothing where there is no interval."""
    reach = [
        (change.value - change.low, change.high - change.value) if change.has_interval else (0.0, 0.0)
        for change in changes
    ]
    return np.maximum(np.array(reach, np.float64).reshape(-1, 2).T, 0)


def whiskers(axes: Axes, changes: Sequence[PerplexityChange], positions: Sequence[float], direction: str) -> None:
    """The intervals of bars along an axis, where there are any."""
    shown = [k for k, change in enumerate(changes) if change.has_interval and np.isfinite(change.value)]
    values, errors = [changes[k].value for k in shown], errors_of([changes[k] for k in shown])
    shown_positions = [positions[k] for k in shown]
    style: dict[str, Any] = {"fmt": "none", "ecolor": INK, "elinewidth": 1, "capsize": 2.5, "zorder": 4}
    if direction == "x":
        axes.errorbar(values, shown_positions, xerr=errors, **style)
    else:
        axes.errorbar(shown_positions, values, yerr=errors, **style)


def finite(changes: Sequence[PerplexityChange]) -> list[float]:
    """The values; those that cannot be drawn are not there (not a number)."""
    return [change.value if np.isfinite(change.value) else float("nan") for change in changes]


def value_text(change: PerplexityChange) -> str:
    """The label beside a bar."""
    return percent(change.value) if np.isfinite(change.value) else "–"

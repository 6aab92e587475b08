"""The map of a model's morphemes, which takes some seconds: it is made in the background when it is first asked for."""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Literal

from morphlm.analysis.morpheme_map import MapPoint, MorphemeMap, map_morphemes
from morphlm.errors import ConfigError
from morphlm.report.explorer.models import ExploredModel

MapState = Literal["ready", "computing", "none"]


@dataclass(frozen=True)
class MapView:
    """The map, or why there is none yet."""

    model: str
    state: MapState  # none: there is no map, and `note` says why
    points: list[MapPoint]
    note: str


@dataclass(frozen=True)
class MapPosition:
    """The coordinates of a word on the map."""

    x: float
    y: float


class MapKeeper:
    """Computes the map of one model, once, in a thread."""

    def __init__(self, explored: ExploredModel) -> None:
        self._explored = explored
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._map: MorphemeMap | None = None
        self._refused = ""

    @property
    def state(self) -> MapState:
        """Whether the map is there; the first call starts the computation."""
        with self._lock:
            if self._map is not None:
                return "ready"
            if self._refused:
                return "none"
            if self._thread is None:
                # A daemon: nobody waits for a map when the server ends.
                self._thread = threading.Thread(target=self._compute, name="map", daemon=True)
                self._thread.start()
            return "computing"

    def wait(self, seconds: float | None = None) -> None:
        if self.state == "computing" and self._thread is not None:
            self._thread.join(seconds)

    def _compute(self) -> None:
        computed, refused = None, ""
        try:
            vectors = self._explored.vectors
            if vectors is None or vectors.factors is None:
                raise ConfigError("this model has no morphemes, and so no map of them; choose another")
            computed = map_morphemes(vectors)
        except ConfigError as error:
            refused = str(error)
        except BaseException:
            refused = "the map could not be computed; the terminal shows why"
            raise
        finally:
            with self._lock:
                self._map, self._refused = computed, refused

    def view(self) -> MapView:
        state = self.state
        points = [] if self._map is None else list(self._map.points)
        return MapView(self._explored.name, state, points, self._refused)

    def place(self, form: str) -> MapPosition | None:
        """Where a word lies; None while there is no map."""
        if self.state != "ready" or self._map is None or self._explored.vectors is None:
            return None
        vectors = self._explored.vectors
        (x, y), *_ = self._map.place(vectors, vectors.rows([form])).tolist()
        return MapPosition(x, y)

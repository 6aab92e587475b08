"""The demo: from nothing to a model. Gets text, learns from it as `morphlm learn` does, and shows some words of it."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from morphlm.display import dataclass_repr
from morphlm.errors import FetchError
from morphlm.learning.directory import LearnDirectory
from morphlm.learning.learn import learn_request
from morphlm.learning.learned import Learned
from morphlm.learning.request import LearnRequest
from morphlm.progress import notify
from morphlm.report.examples import spread
from morphlm.segmentation.segmenter import MorphemeSegmenter
from morphlm.text.datasets import DataFolder, get_dataset
from morphlm.threads import available_cores
from morphlm.vectors.questions import QueryAnswer, ask

SHOWN_WORDS, NEIGHBOURS = 8, 5


@dataclass(frozen=True)
class DemoConfig:
    """What the demo does."""

    directory: Path  # the text and what is learned go here
    language: str = "cs"
    minutes: float | None = None  # None: what the text needs
    seed: int = 1

    __repr__ = dataclass_repr


@dataclass(frozen=True)
class DemoResult:
    """What the demo prints."""

    data: str  # name of the data set
    command: str  # that does the same
    learned: Learned
    morphemes: list[str]  # some words as their labelled morphemes
    neighbours: list[QueryAnswer]  # of some words of the text, and of some that only the test text has

    __repr__ = dataclass_repr

    def to_json(self) -> dict[str, Any]:
        return {
            "data": self.data,
            "command": self.command,
            "learned": self.learned.to_json(),
            "morphemes": self.morphemes,
            "neighbours": [answer.to_json() for answer in self.neighbours],
        }

    def format(self) -> str:
        morphemes = "\n".join(f"  {line}" for line in self.morphemes)
        sections = [f"$ {self.command}\n{self.learned.format()}", f"Morphemes of some words\n{morphemes}"]
        for title, is_new in (("Neighbours of some words", False), ("Neighbours of words never seen", True)):
            answers = [answer for answer in self.neighbours if (answer.understood != "known") == is_new]
            if answers:
                sections.append("\n".join([title, *map(format_answer, answers)]))
        return "\n\n".join(sections)


def format_answer(answer: QueryAnswer) -> str:
    """`  školu: domu 0.81, školy 0.75`; for a word that was never seen, what it was composed of."""
    near = ", ".join(f"{name} {similarity:.2f}" for name, similarity in answer.neighbours)
    notes = [f"    {one.format()}" for one in answer.compositions if one.origin != "known"]
    return "\n".join([f"  {answer.query}: {near}", *notes])


def run_demo(config: DemoConfig) -> DemoResult:
    """Get the text, learn, and look at some words."""
    data = get_data(config)
    request = request_for(data, config)
    command = command_for(request)
    notify(f"$ {command}")
    learned = learn_request(request)
    assert learned.directory is not None
    assert learned.record.result is not None
    result = learned.record.result
    words = [*result.words, *result.new_words] if result.kind != "mkn" else []
    return DemoResult(
        data=data.name,
        command=command,
        learned=learned,
        morphemes=some_words(MorphemeSegmenter.load(LearnDirectory(learned.directory).segmenter)),
        neighbours=ask(learned.model.vectors, words, k=NEIGHBOURS, prepared=True) if words else [],
    )


def request_for(data: DataFolder, config: DemoConfig) -> LearnRequest:
    """What `morphlm learn` is asked for. Generated text is tokenised already."""
    language, path = data.languages[0], data.path("train", data.languages[0])
    is_generated = data.name == "generated"
    return LearnRequest(
        (config.directory / path.parent.name / path.name,),  # as it was named, for the command that is shown
        config.directory / language,
        None if is_generated else language,
        config.minutes,
        prepared=is_generated,
        seed=config.seed,
        processes=available_cores(),
    )


def command_for(request: LearnRequest) -> str:
    """The same request, as one would type it."""
    options = [("--language", request.language), ("--minutes", request.minutes and f"{request.minutes:g}")]
    options += [("--seed", request.seed if request.seed != DemoConfig.seed else None)]
    given = [str(word) for option in options if option[1] is not None for word in option]
    flags = ["--prepared"] if request.prepared else []
    assert request.paths is not None
    return shlex.join(["morphlm", "learn", *map(str, request.paths), *given, *flags, "--out", str(request.out)])


def some_words(segmenter: MorphemeSegmenter) -> list[str]:
    """Words of two morphemes or more, from all over the vocabulary."""
    analyses = segmenter.segmentation.analyses
    composed = [word for word, morphemes in analyses.items() if len(morphemes) > 1]
    return [" + ".join(map(str, analyses[word])) for word in spread(composed, SHOWN_WORDS)]


def get_data(config: DemoConfig) -> DataFolder:
    """The default data set; where it cannot be had, the generated language, saying so. Its parts depend on the seed."""
    mark = "" if config.seed == DemoConfig.seed else f".seed{config.seed}"
    try:
        notify(f"getting libreoffice-help ({config.language}) ...")
        directory = config.directory / f"libreoffice-help.{config.language}{mark}"
        return get_dataset("libreoffice-help", directory, language=config.language, seed=config.seed)
    except FetchError as error:
        notify(f"{error}\nfalling back to a generated language, so the figures below are not of a real one")
        return get_dataset("generated", config.directory / f"generated{mark}", seed=config.seed)

"""The analyses of whole folders of models, as `train_kinds` or `morphlm train --all` writes them, in one call each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from morphlm.analysis.model_triple import TRIPLE
from morphlm.analysis.pruning import Pruning, compare_pruning, pruning_row
from morphlm.analysis.scaling import Scaling, compare_scaling, scaling_point
from morphlm.analysis.scores import read_for, score_folder
from morphlm.analysis.selection import PAPER_KINDS, Selection, select_from_scores
from morphlm.errors import ConfigError
from morphlm.files import source_name
from morphlm.progress import ProgressOption, reports_progress
from morphlm.wording import either

Folder = str | Path


@reports_progress
def select_folders(
    languages: Mapping[str, tuple[Folder, Folder]],
    *,
    allow_unknown: bool = False,
    prepared: bool | None = None,
    encoding: str | None = None,
    seed: int = 1,
    progress: ProgressOption = None,
) -> Selection:
    """All models of several languages: what the additive ones change against those that they add to.

    `languages` maps the name of a language to its folder of models and its test text. `allow_unknown` and `prepared`
    are as of `LanguageModel.perplexity`, `seed` is that of the bootstrap, and `progress` is as of `morphlm.train`.
    """
    scores = {
        name: score_folder(folder, PAPER_KINDS, test, allow_unknown=allow_unknown, prepared=prepared, encoding=encoding)
        for name, (folder, test) in languages.items()
    }
    return select_from_scores(scores, seed=seed)


@reports_progress
def scale_folders(
    test: Folder,
    growing: Sequence[Folder] = (),
    fixed: Sequence[Folder] = (),
    *,
    allow_unknown: bool = False,
    prepared: bool | None = None,
    encoding: str | None = None,
    seed: int = 1,
    progress: ProgressOption = None,
) -> Scaling:
    """What CLBL and CLBL++ gain over MKN on a test text, with the amount of training text.

    Each folder has the models mkn, clbl and clbl++ of one amount of text: with vocabularies that grow with the text
    (`growing`), or with one that stays (`fixed`). The other arguments are as of `select_folders`.
    """
    if not growing and not fixed:
        named = either("give --growing FOLDER, --fixed FOLDER or both, once for each amount", "give growing= or fixed=")
        raise ConfigError(f"no models are named; {named}")
    text = read_for((*growing, *fixed)[0], test, allow_unknown=allow_unknown, prepared=prepared, encoding=encoding)
    series = [
        [
            scaling_point(
                score_folder(
                    folder,
                    TRIPLE,
                    text,
                    need_all=True,
                    allow_unknown=allow_unknown,
                    prepared=prepared,
                    encoding=encoding,
                ),
                seed=seed,
            )
            for folder in folders
        ]
        for folders in (fixed, growing)
    ]
    return compare_scaling(*series, text=source_name(test), seed=seed)


@reports_progress
def prune_folders(
    languages: Mapping[str, tuple[Folder, Folder, Folder]],
    *,
    allow_unknown: bool = False,
    prepared: bool | None = None,
    encoding: str | None = None,
    seed: int = 1,
    progress: ProgressOption = None,
) -> Pruning:
    """What CLBL gains over MKN and CLBL++ over CLBL with few and with all words that occur once pruned.

    `languages` maps the name of a language to a folder of models with a low kappa, one with kappa = 1, and the test
    text. The other arguments are as of `select_folders`.
    """
    rows = []
    for name, (low_folder, one_folder, test) in languages.items():
        text = read_for(low_folder, test, allow_unknown=allow_unknown, prepared=prepared, encoding=encoding)
        for folder in (low_folder, one_folder):
            scores = score_folder(
                folder, TRIPLE, text, need_all=True, allow_unknown=allow_unknown, prepared=prepared, encoding=encoding
            )
            rows.append(pruning_row(name, scores, seed=seed))
    return compare_pruning(rows, seed=seed)

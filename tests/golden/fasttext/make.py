"""Makes the files of this folder with the real fastText: `pip install fasttext-wheel numpy`, then run it here."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

import fasttext

FOLDER = Path(__file__).parent
STEMS, SUFFIXES = ("dom", "škol", "řek", "пол", "日本", "a", "x😀"), ("", "u", "ami", "ům", "ою", "<>")
NEW = ("nedomem", "školou", "ž", "", "日", "ппп", "a>b", "q", "žluťoučký")
SENTENCES = ("domu školami nedomem", "řekům  a\tž", "q q", "")
SETTINGS = {  # of subwords
    "skipgram": {"minn": 2, "maxn": 4, "bucket": 97},
    "single": {"minn": 0, "maxn": 2, "bucket": 13},
    "words": {"minn": 0, "maxn": 0},
}


def main() -> None:
    rng = random.Random(1)
    words = [stem + suffix for stem in STEMS for suffix in SUFFIXES]
    lines = [" ".join(rng.choice(words) for _ in range(8)) for _ in range(60)]
    with tempfile.TemporaryDirectory() as folder:
        text = Path(folder) / "text.txt"
        text.write_text("".join(f"{line}\n" for line in lines))
        for name, settings in SETTINGS.items():
            model = fasttext.train_unsupervised(
                str(text), dim=5, epoch=20, minCount=1, thread=1, neg=2, lr=0.5, verbose=0, **settings
            )
            model.save_model(str(FOLDER / f"{name}.bin"))
            write_answers(FOLDER / f"{name}.tsv", model)
        text.write_text("".join(f"__label__{rng.choice('ab')} {line}\n" for line in lines))
        model = fasttext.train_supervised(str(text), dim=4, epoch=2, minn=2, maxn=3, bucket=600, thread=1, verbose=0)
        model.save_model(str(FOLDER / "supervised.bin"))
        write_answers(FOLDER / "supervised.tsv", model, sentences=())
        model.quantize(input=str(text), cutoff=256, retrain=False)
        model.save_model(str(FOLDER / "pruned.ftz"))


def write_answers(path: Path, model: fasttext.FastText, sentences: tuple[str, ...] = SENTENCES) -> None:
    """Its words in order, then what it says of words, sentences and neighbours, with nine digits."""
    lines = ["words\t" + " ".join(model.words)]
    for word in (*model.words, *NEW):
        lines.append(f"word\t{word}\t{numbers(model.get_word_vector(word))}")
        lines.append(f"subwords\t{word}\t{' '.join(part for part in model.get_subwords(word)[0] if part != word)}")
    for sentence in sentences:
        lines.append(f"sentence\t{sentence!r}\t{numbers(model.get_sentence_vector(sentence))}")
    for word in ("domu", "nedomem"):
        near = " ".join(f"{name} {similarity:.9g}" for similarity, name in model.get_nearest_neighbors(word, k=5))
        lines.append(f"neighbours\t{word}\t{near}")
    path.write_text("".join(f"{line}\n" for line in lines))


def numbers(vector: object) -> str:
    return " ".join(f"{number:.9g}" for number in vector)  # type: ignore[attr-defined]


if __name__ == "__main__":
    main()

"""The fuzz targets: for each reader a function of bytes, what it begins from, and words that its format has.

A target passes if it returns or raises a MorphlmError. A new reader is a new entry in `make_targets`.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

import morphlm
from fuzz.artefacts import IDENTITY, TRANSLATED, WORDS
from fuzz.forging import ForgedFolder, sign_compiled, sign_record
from morphlm.analysis.learning_curves import read_learning_curves
from morphlm.analysis.tag_reading import read_tagged
from morphlm.classes.formats import FORMATS as CLASS_FORMATS
from morphlm.classes.formats import read_classes
from morphlm.errors import MorphlmError
from morphlm.experiments.recipe import load_recipe, members_of
from morphlm.experiments.store import Store
from morphlm.files import COMPRESSIONS, atomic_writer
from morphlm.language_model.base import LanguageModel
from morphlm.modelfile import read_model
from morphlm.ngram.model import NgramModel
from morphlm.scoring.kbest import read_weights
from morphlm.scoring.rescoring import Rescorer, RescoringOptions, rescore
from morphlm.segmentation.gold import read_gold
from morphlm.segmentation.sources.conllu import read_conllu
from morphlm.segmentation.sources.morfessor import read_morfessor
from morphlm.segmentation.sources.table import read_table
from morphlm.text.datasets.debian import package_files
from morphlm.text.datasets.folder import read_folder
from morphlm.text.datasets.libreoffice_help import read_page
from morphlm.text.documents import read_documents
from morphlm.text.parallel_pairs import pair_options, prepare_pair_files
from morphlm.text.preparation import PrepareOptions, paper_options, read_preparation
from morphlm.text.prepare import prepare_line
from morphlm.text.reading import Mending, read_blocks
from morphlm.text.recognition import recognise_language
from morphlm.text.sentences import split_sentences
from morphlm.training.checkpoint import read_checkpoint
from morphlm.training.config import TrainingConfig
from morphlm.training.log import LOG_FILE, find_end, read_log
from morphlm.translation.alignment.parallel_text import read_pairs as read_parallel_pairs
from morphlm.translation.alignment.parallel_text import read_parallel
from morphlm.translation.alignment.pharaoh import read_pharaoh
from morphlm.translation.grammar.bitext import load_bitext
from morphlm.translation.grammar.config import GrammarConfig
from morphlm.translation.grammar.extra_rules import ExtraRules
from morphlm.translation.grammar.extraction import GrammarExtractor
from morphlm.translation.grammar.rules import write_rules
from morphlm.translation.system.config import SystemConfig
from morphlm.translation.system.conversion import SystemName, export_weights, import_weights
from morphlm.translation.system.kbest_lists import convert_kbest, read_kbest, write_kbest
from morphlm.translation.system.segments import SegmentReader
from morphlm.translation.system.system import TranslationSystem
from morphlm.translation.tuning.lists import TranslationList, read_lists, write_lists
from morphlm.translation.tuning.pool import CandidatePool
from morphlm.vectors.analogies import read_analogies
from morphlm.vectors.export import read_words
from morphlm.vectors.reading import load_vectors
from morphlm.vectors.similarity import read_pairs

Run = Callable[[bytes], object]
Reader = Callable[[Path], object]

MARKS = (b"<unk>", b"<s>", b"</s>", b"\0", b"\r\n", b"\xef\xbb\xbf", b"\xff", b"\t", b"\n\n", b"\x0b", b"\xc2\xa0")
NUMBERS = (
    b"-1",
    b"0",
    b"1e999",
    b"-inf",
    b"nan",
    b"9" * 20,
    b"9" * 5000,
    b"1_0",
    b"0x1p3",
    "٣".encode(),
    "²".encode(),
    b"1e-400",
)
BARS = (b" ||| ", b"|||", b"\\|||", b"=", b": ", b"[X,1]", b"[X]", b"[1]")
JSON = (b"null", b"true", b"[]", b"{}", b"1e999", b"NaN", b'"\\ud800"', b"[" * 50, b"9" * 30, b"-1", b'""', b'".."')

CONLLU = (
    b"# text = im Haus\n1-2\tim\t_\t_\t_\t_\t_\t_\t_\t_\n1\tin\tin\tADP\tAPPR\t_\t_\t_\t_\tSpaceAfter=No\n"
    b"2\tdem\tder\tDET\tART\tCase=Dat|Number=Sing\t_\t_\t_\t_\n2.1\t_\t_\t_\t_\t_\t_\t_\t_\t_\n"
    b"3\tHaus\tHaus\tNOUN\tNN\tCase=Dat\t_\t_\t_\t_\n\n"
)
MOSES = b"0 ||| dom a ||| LM= -3.5 TM= -1 -2 ||| -4.5\n0 ||| domu ||| LM= -4 TM= -1 -1 ||| -5 ||| 0-0\n"
CDEC = b"0 ||| dom a ||| LM=-3.5 Glue=1 ||| -4.5\n1 ||| domu ||| LM=-2 ||| -inf\n"
COLUMNS = b"0\tdom a\t-1.5\n0\tdomu\t-2\tmore\n"
MOSES_INI = b"# weights\n[feature]\nLM order=3\n\n[weight]\nLM= 0.5\nTM= 0.2 0.3\n"
GRAMMAR = b"[X] ||| das [X,1] ist ||| the [X,1] is ||| EgivenF=-0.4 -0.7 ||| 0-0 2-2\n[X] ||| \\[X] ||| a ||| F=1\n"
RECIPE = (
    b'title = "T"\nprint = ["corpus"]\nlanguages = ["cs", "de"]\n[text]\ntokens = [1000, "all"]\n[models]\n'
    b'kinds = ["mkn", "clbl++"]\nkappas = [0.2]\nseeds = [1]\nwidth = 50\nsettings = { epochs = 3 }\n'
    b'[translation]\ntuning = 10\n[budget]\ntokens = [500]\nwithout = [["clbl++"]]\n'
)
RAW = "«Příliš žluťoučký kůň», řekl J. K. Tyl 3. října.\r\nPak šel\ndál…\n\nThe sun set. Nobody came.\n".encode()
PAGE = b'<html><body><h1 id="hd_id1">Title</h1><p id="par_id2">Some <b>text</b> &amp; more.</p></body></html>'
LOG = (
    b'{"epoch": 1, "minibatch": 0, "tokens": 100, "seconds": 1.5, "objective": 2.1, "development_perplexity": 50.5, '
    b'"step": 0.1, "best": true}\n{"epoch": 2, "minibatch": 3, "tokens": 240, "seconds": 3.5, "objective": 2.0, '
    b'"development_perplexity": null, "step": 0.1, "best": false, "ended": "2 epochs are done"}\n'
)
GOLD = (
    b"3 dom/STM + u/SUF\n1 do + mem\n",
    b"unhappy\tun:un_p happy:happy_A, unhappy:unhappy_A\n",
    b"unhappy\tun:PREF/happy:ROOT\n",
    b"unhappy\tun @@happy\t100\n",
)


@dataclass(frozen=True)
class Target:
    """A reader, as a function of bytes."""

    run: Run  # passes if it returns or raises a MorphlmError
    seeds: Sequence[bytes]  # inputs that are as they should be
    tokens: Sequence[bytes] = ()  # what to put in: words of the format, and what often breaks readers of it
    behind_hashes: bool = False  # the input goes into a directory whose hashes are then made right


class NumbaBoundsError(Exception):
    """An index outside of an array in compiled code, even if the caller made an error of morphlm of it."""


def passes(target: Target, data: bytes) -> bool:
    """Whether the input was read (False: refused). What is neither raises."""
    try:
        target.run(data)
    except MorphlmError as error:
        cause = error.__cause__
        while cause is not None:
            # NumPy names the index; compiled code cannot.
            if isinstance(cause, IndexError) and str(cause) == "index is out of bounds":
                raise NumbaBoundsError(str(error)) from error
            cause = cause.__cause__
        return False
    return True


def make_targets(artefacts: Path, scratch: Path) -> dict[str, Target]:
    """All targets by name. `make_artefacts` has filled `artefacts`; targets write to `scratch`, a folder in memory."""
    return (
        _text_targets(artefacts, scratch)
        | _word_targets(artefacts, scratch)
        | _scoring_targets(artefacts, scratch)
        | _translation_targets(artefacts, scratch)
        | _record_targets(artefacts, scratch)
        | _model_targets(artefacts, scratch)
    )


def in_file(path: Path, read: Reader) -> Run:
    """A reader of a file as a function of bytes."""

    def run(data: bytes) -> object:
        path.unlink(missing_ok=True)  # what was read before may still be mapped
        path.write_bytes(data)
        return read(path)

    return run


def choosing(*runs: Run) -> Run:
    """The first byte chooses one of several readers."""
    return lambda data: runs[(data[0] if data else 0) % len(runs)](data[1:])


def chosen(*seeds: bytes) -> list[bytes]:
    """A seed for each of several readers."""
    return [bytes([number]) + seed for number, seed in enumerate(seeds)]


def compressed(extension: str, data: bytes, scratch: Path) -> bytes:
    """Bytes as a compressed file."""
    path = scratch / f"made{extension}"
    with atomic_writer(path) as file:
        file.write(data)
    return path.read_bytes()


# ---------------------------------------------------------------- text


def _text_targets(artefacts: Path, scratch: Path) -> dict[str, Target]:
    text = (artefacts / "raw.txt").read_bytes()[:200]
    lines = (artefacts / "prepared" / "text.txt").read_bytes()[:200]
    extensions = list(COMPRESSIONS)
    other_side = scratch / "other-side.txt"
    other_side.write_bytes(text)
    return {
        "text": Target(in_file(scratch / "text.txt", _read_text), [text, lines], MARKS),
        "compressed": Target(
            choosing(*(in_file(scratch / f"text{extension}", _read_text) for extension in extensions)),
            chosen(*(compressed(extension, text, scratch) for extension in extensions)),
            [magic for _, magic, _ in COMPRESSIONS.values()],
        ),
        "prepare": Target(
            _prepare, [text, "«Д'Артаньян» <S> е.g. 12.5 % &amp;\n".encode()], (*MARKS, "\u200b".encode())
        ),
        "documents": Target(
            choosing(*(in_file(scratch / name, _read_documents) for name in ("raw.txt", "raw.jsonl", "raw.txt.gz"))),
            chosen(RAW, b'{"text": "One. Two."}\n', compressed(".gz", RAW, scratch)),
            (*MARKS, *JSON, b"\xff\xfe", b"%PDF", b'{"text": "', b"\r", b"- ", b". "),
        ),
        "parallel": Target(
            in_file(scratch / "side.txt", lambda path: _prepare_pairs(path, other_side, scratch)), [text], MARKS
        ),
        "parallel-pairs": Target(in_file(scratch / "pairs.txt", read_parallel_pairs), [b"a b ||| c\n||| d\n"], BARS),
        "vocabulary": Target(
            in_file(scratch / "vocabulary.tsv", morphlm.load_vocabulary),
            [(artefacts / "vocabulary.tsv").read_bytes()],
            (*MARKS, *NUMBERS),
        ),
        "package": Target(
            in_file(scratch / "package.deb", lambda path: list(package_files(path, re.compile(".*")))),
            [(artefacts / "package.deb").read_bytes()],
            (b"data.tar.xz", b"data.tar.zst", b"`\n", b"!<arch>\n", *NUMBERS),
        ),
        "help-page": Target(
            lambda data: read_page(data.decode(errors="replace")), [PAGE], (b"<p id=", b"</", b"&#0;", b"<!--", b"]]>")
        ),
    }


def _read_text(path: Path) -> None:
    words = morphlm.read_corpus(path, allow_unknown=True).words
    words.vocabulary(0.5, 1)
    list(read_blocks(path, mending=Mending(keep_lines=True)))


def _read_documents(path: Path) -> None:
    paragraphs = [text for part in read_documents([path], say=lambda _: None) for text in part.paragraphs]
    recognise_language(paragraphs)
    for paragraph in paragraphs:
        sentences = split_sentences(paragraph, "cs")
        assert "".join("".join(sentences).split()) == "".join(paragraph.split()), paragraph


def _prepare(data: bytes) -> None:
    text = data.decode(errors="replace")
    for options in (*(PrepareOptions(language=language) for language in ("cs", "tr", "fr", None)), paper_options("ru")):
        for line in text.split("\n"):
            tokens = prepare_line(line, options)
            assert all(len(token.split()) == 1 for token in tokens), tokens
            if options.is_idempotent:
                assert prepare_line(" ".join(tokens), options) == tokens


def _prepare_pairs(path: Path, other: Path, scratch: Path) -> None:
    outs = (scratch / "side.out", scratch / "other.out")
    prepare_pair_files((path, other), outs, pair_options((None, None), tokeniser="none"), mend=True, processes=1)


# ---------------------------------------------------------------- words: classes, factors, vectors


def _word_targets(artefacts: Path, scratch: Path) -> dict[str, Target]:
    vocabulary = morphlm.load_vocabulary(artefacts / "vocabulary.tsv")
    word = WORDS[0].encode()
    readers = (partial(read_classes, file_format=name, vocabulary=vocabulary) for name in CLASS_FORMATS)
    classes = (artefacts / "clbl++" / "classes.tsv").read_bytes()
    vectors = artefacts / "vectors"
    npy = ForgedFolder(vectors, scratch, ["vectors.npy", "vectors.words.txt"])
    return {
        "classes": Target(
            choosing(*(in_file(scratch / "classes.txt", reader) for reader in readers)),
            chosen(classes, b"0110\t%b\t7\n01\tx\t1\n" % word, b"1:%b,x,,\n;\ny 12\n" % word),
            NUMBERS,
        ),
        "conllu": Target(in_file(scratch / "text.conllu", _read_conllu), [CONLLU], (b"_", b"1-2", b"2.1", b"|", b"=")),
        "tagged": Target(
            in_file(scratch / "tagged.txt", lambda path: read_tagged([path], "slashes")),
            [b"das/ART Haus/NN ./$.\n"],
            (b"/", b" / "),
        ),
        "morfessor": Target(
            in_file(scratch / "morfessor.txt", read_morfessor),
            [(artefacts / "segmenter" / "segmentation.txt").read_bytes(), b"# by\n3 do + mem\n"],
            (b" + ", b"/STM", b"/ZZZ", *NUMBERS),
        ),
        "gold": Target(in_file(scratch / "gold.txt", read_gold), GOLD, (b" + ", b"@@", b":", b"~:", b", ", b"\xe4")),
        "factor-table": Target(
            in_file(scratch / "factors.tsv", read_table), [b"dom\tdom -\ndomu\tdom u\n"], (b"\t", "́".encode())
        ),
        "analogies": Target(
            in_file(scratch / "questions.txt", read_analogies), [b": forms\ndom domu pole polu\n"], (b": ", *MARKS)
        ),
        "similarity": Target(in_file(scratch / "pairs.tsv", read_pairs), [b"dom\tdomu\t3.5\na b\tc\t1\n"], NUMBERS),
        "word-list": Target(in_file(scratch / "words.txt", read_words), [b"dom domu\nne\n"], MARKS),
        "vectors-word2vec": Target(
            choosing(*(in_file(scratch / f"vectors{suffix}", _read_vectors) for suffix in (".txt", ".bin", ".vec"))),
            chosen(*((vectors / f"vectors{suffix}").read_bytes() for suffix in (".txt", ".bin"))),
            NUMBERS,
        ),
        "vectors-fasttext": Target(
            in_file(scratch / "fasttext.bin", _read_vectors),
            [(vectors / "fasttext.bin").read_bytes()],
            (b"\0", b"\1", b"\xff" * 4, b"\xff\xff\xff\x7f", b"\x80", b"dom\0"),
        ),
        "vectors-npy": Target(
            lambda data: _read_vectors(npy.put(data) / "vectors.npy"),
            npy.seeds(),
            (b"'descr': '<f4'", b"'|O'", b"(-1,"),
        ),
        "vectors-safetensors": Target(
            in_file(scratch / "vectors.safetensors", _read_vectors),
            [(vectors / "vectors.safetensors").read_bytes()],
            (*JSON, b'"F32"', b'"U8"', b'"dtype"', b'"data_offsets"', b'"shape"'),
        ),
    }


def _read_conllu(path: Path) -> None:
    refused = None
    for read in (read_conllu, partial(_read_tags, column="upos"), partial(_read_tags, column="xpos")):
        try:
            read(path)
        except MorphlmError as error:
            refused = error
    if refused is not None:
        raise refused


def _read_tags(path: Path, column: Any) -> None:
    read_tagged([path], "conllu", column=column)


def _read_vectors(path: Path) -> None:
    vectors = load_vectors(path)
    if len(vectors):
        vectors.most_similar(vectors.index_to_key[0], topn=2)
        vectors.rows(["školami", ""])


# ---------------------------------------------------------------- models as files, k-best lists, weights


def _scoring_targets(artefacts: Path, scratch: Path) -> dict[str, Target]:
    model = morphlm.load(artefacts / "mkn")
    options = RescoringOptions(word_count=True, lm_weights=(0.5,))
    weighted = RescoringOptions(weights={"LM": (1.0,), "TM": (0.5, 0.5), "3": (1.0,)})
    return {
        "arpa": Target(
            in_file(scratch / "model.arpa", lambda path: _use_ngrams(morphlm.load(path), scratch)),
            [(artefacts / "model.arpa").read_bytes(), _small_arpa()],
            (b"\\data\\", b"\\2-grams:", b"\\end\\", b"ngram 1=", b"<UNK>", b"-99", *MARKS, *NUMBERS),
        ),
        "kbest": Target(
            choosing(
                *(
                    in_file(scratch / "kbest.txt", partial(_rescore, model=model, options=each))
                    for each in (options, weighted, RescoringOptions())
                )
            ),
            [*chosen(MOSES, CDEC, COLUMNS), *chosen(CDEC, MOSES), *chosen(COLUMNS, COLUMNS)],
            (*BARS, *NUMBERS, b"mkn=", b"<unk>"),
        ),
        "weights": Target(
            in_file(scratch / "weights.txt", lambda path: read_weights(str(path))),
            [MOSES_INI, b"LM 0.5\nTM= 1 2\n", b"LM=1 Other= 2 3\n"],
            (b"[weight]", b"#", b"=", b":", *NUMBERS),
        ),
    }


def _small_arpa() -> bytes:
    """One from which n-grams are missing that others need, as in pruned models."""
    sections = (
        "\\data\\\nngram 1=5\nngram 2=1\nngram 3=1",
        "\\1-grams:\n-1 <unk>\n-99 <s> -0.3\n-0.5 </s>\n-0.5 a -0.2\n-0.7 b",
        "\\2-grams:\n-0.2 a b",
        "\\3-grams:\n-0.1 b a b",
        "\\end\\\n",
    )
    return "\n\n".join(sections).encode()


def _rescore(path: Path, model: LanguageModel, options: RescoringOptions) -> None:
    for items in rescore(Rescorer([("mkn", model)], options), path):
        for item in items:
            item.to_line()
            item.to_json()


def _score(model: LanguageModel) -> None:
    """Known and unknown words in all ways."""
    model.sentence([WORDS[0], "unseen", WORDS[1]])
    model.distribution(model.begin())
    model.score(model.begin(), WORDS[0])
    model.perplexity([[WORDS[0], WORDS[2]]]).format()


def _use_model(model: LanguageModel, scratch: Path) -> None:
    """Score, and write or ask what else the model has."""
    _score(model)
    if isinstance(model, NgramModel):
        model.write_arpa(scratch / "written.arpa")
    elif hasattr(model, "vectors"):
        model.vectors.neighbours(WORDS[0], 2)
        if model.vectors.composable("školami"):
            model.vectors["školami"]


def _use_ngrams(model: LanguageModel, scratch: Path) -> None:
    _use_model(model, scratch)
    words = list(islice(model.vocabulary, 3, 6))
    model.sentence([*words, *words])


# ---------------------------------------------------------------- translation


def _translation_targets(artefacts: Path, scratch: Path) -> dict[str, Target]:
    text = read_parallel(artefacts / "source.txt", artefacts / "target.txt")
    links = (artefacts / "system" / "text" / "alignment.txt").read_bytes()
    system = ForgedFolder(artefacts / "system", scratch, ["system.json", "weights.json", "rules.gz"])
    bitext = ForgedFolder(artefacts / "system" / "bitext", scratch)
    return {
        "pharaoh": Target(
            choosing(
                in_file(scratch / "links.txt", read_pharaoh),
                in_file(scratch / "links.txt", lambda path: read_pharaoh(path, text)),
            ),
            chosen(links, links),
            (b"0-0", b"99999999999-0", b"0-", b"-", b"4294967296-0", b"\x0b", b"\x0b\x0b"),
        ),
        "grammar": Target(
            choosing(
                in_file(scratch / "rules", partial(_read_rules, scratch=scratch)),
                in_file(scratch / "rules.gz", partial(_read_rules, scratch=scratch)),
            ),
            chosen(GRAMMAR, gzip.compress(GRAMMAR, mtime=0)),
            (*BARS, *NUMBERS, b"0-0"),
        ),
        "kbest-conversion": Target(
            choosing(
                in_file(scratch / "list", partial(_convert_kbest, source="cdec", target="moses", scratch=scratch)),
                in_file(scratch / "list", partial(_convert_kbest, source="moses", target="morphlm", scratch=scratch)),
                in_file(scratch / "list", partial(_convert_kbest, source="morphlm", target="cdec", scratch=scratch)),
                in_file(scratch / "weights.txt", lambda path: export_weights(import_weights(path, "cdec"), "moses")),
                in_file(scratch / "weights.txt", lambda path: export_weights(import_weights(path, "moses"), "moses")),
            ),
            chosen(CDEC, MOSES, CDEC, b"LanguageModel 0.5\nWordPenalty -1\n", b"LM0= 0.5 -1\nWordPenalty0= -1\n"),
            (*BARS, *NUMBERS, b"LanguageModel", b"_OOV", b"LM0", b"WordPenalty", b"TranslationModel0= 1 2 3 4"),
        ),
        "segments": Target(
            in_file(scratch / "segments", _read_segments),
            [b'<seg id="7" grammar="g.gz" grammar1=\'h\'>the house</seg>\nplain < text\n'],
            (b"<seg ", b"</seg>", b"grammar", b"grammar2", b"id=", b'"', b"'", b">", b"=", b"(((", b")", *MARKS),
        ),
        "tuning-lists": Target(
            in_file(scratch / "lists", _pool_lists),
            [_lists(scratch)],
            (*JSON, b"[[", b"]]\n", b"[2, 1]", b"[-1]", b"[99999999999]"),
        ),
        "system": Target(
            lambda data: _translate(system.put(data)),
            system.seeds(),
            (*JSON, b"rules.gz", b"bitext"),
            behind_hashes=True,
        ),
        "bitext": Target(lambda data: _extract(bitext.put(data)), bitext.seeds(), JSON, behind_hashes=True),
    }


def _read_rules(path: Path, scratch: Path) -> None:
    rules = ExtraRules.read(path, lowercase=True)
    rules.for_sentence(["das", "haus", "ist"])
    write_rules(scratch / "written.gz", rules.table)


def _convert_kbest(path: Path, source: SystemName, target: SystemName, scratch: Path) -> None:
    entries = convert_kbest(read_kbest(path), source, target)
    write_kbest(scratch / "converted", entries, "cdec" if target == "cdec" else "moses")


def _read_segments(path: Path) -> None:
    reader = SegmentReader(SystemConfig(tokenise=False), markup="refuse", sentence_grammars=True, keep_case=True)
    for block in read_blocks(path):
        list(reader.segments(block))


def _lists(scratch: Path) -> bytes:
    hypotheses = [(["a", "house"], np.zeros(2, np.float32)), (["a"], np.ones(2, np.float32))]
    path = scratch / "written.lists"
    write_lists(path, "key", [TranslationList.of(hypotheses), TranslationList.of(hypotheses[1:])])
    return path.read_bytes()


def _pool_lists(path: Path) -> None:
    pool = CandidatePool([[["a", "house"]], [["a"]]], 2)
    packed = path.with_suffix(".gz")
    packed.write_bytes(gzip.compress(path.read_bytes(), 1))
    for sentence, translations in enumerate(read_lists(packed, 2, 2)):
        pool.add(sentence % 2, translations)
    pool.arrays().bleu(np.ones(2))


def _translate(directory: Path) -> None:
    system = TranslationSystem.load(directory)
    for sentence in TRANSLATED:
        system.translate_text(sentence)


def _extract(directory: Path) -> None:
    extractor = GrammarExtractor(load_bitext(directory), GrammarConfig())
    for sentence in TRANSLATED:
        list(extractor.extract(sentence.split()))


# ---------------------------------------------------------------- records


def _record_targets(artefacts: Path, scratch: Path) -> dict[str, Target]:
    prepared = ForgedFolder(artefacts / "prepared", scratch, ["text.txt.prepared.json"])
    dataset = ForgedFolder(artefacts / "dataset", scratch, ["dataset.json"])
    store = ForgedFolder(artefacts / "store", scratch)
    trained = scratch / "trained"
    trained.mkdir()
    return {
        "recipe": Target(
            in_file(scratch / "recipe.toml", lambda path: members_of(load_recipe(str(path)))),
            [RECIPE, b'recipes = ["data-1m", "kappa"]\n'],
            (b"[models]", b"[text]", b" = ", b"[[", b'"""', b"inf", b"2020-01-01", b"{ }", b"true", *NUMBERS),
        ),
        "training-log": Target(in_file(trained / LOG_FILE, _read_log), [LOG], (*JSON, b"\x0b", b"\xe2\x80\xa8")),
        "preparation": Target(lambda data: _read_preparation(prepared.put(data) / "text.txt"), prepared.seeds(), JSON),
        "dataset": Target(lambda data: read_folder(dataset.put(data)), dataset.seeds(), (*JSON, b"../")),
        "experiment": Target(lambda data: _read_store(store.put(data)), store.seeds(), (*JSON, b"../")),
    }


def _read_log(path: Path) -> None:
    find_end(read_log(path.parent), TrainingConfig())
    read_learning_curves({"model": path.parent}).to_table().format()


def _read_preparation(path: Path) -> None:
    if (preparation := read_preparation(path)) is not None:
        preparation.format()
        preparation.to_json()


def _read_store(folder: Path) -> None:
    (path,) = (folder / "results").iterdir()
    sign_record(path)
    store = Store(folder)
    for record in store.records():
        store.shelf(record.kind).find(record.key)


# ---------------------------------------------------------------- model directories


def _model_targets(artefacts: Path, scratch: Path) -> dict[str, Target]:
    def forged(name: str, use: Reader, names: Sequence[str] | None = None) -> Target:
        folder = ForgedFolder(artefacts / name, scratch, names)
        return Target(lambda data: use(folder.put(data)), folder.seeds(), JSON, behind_hashes=True)

    def use(path: Path) -> None:
        _use_model(morphlm.load(path), scratch)

    return {
        "tensors": forged("mkn", _read_tensors, ["tensors.safetensors"]),
        "manifest": forged("mkn", _read_tensors, ["manifest.json"]),
        "model-mkn": forged("mkn", use),
        "model-clbl++": forged("clbl++", use),
        "analyser-morphemes": forged("clbl++", _analyse, ["analyser.json", "analyser.tsv", "tensors.safetensors"]),
        "analyser-ngrams": forged("ngrams", _analyse, ["analyser.json", "factors.tsv", "morphemes.tsv"]),
        "analyser-pieces": forged("pieces", _analyse, ["analyser.json", "tensors.safetensors"]),
        "model-mixture": forged("mixture", use, ["manifest.json", "tensors.safetensors"]),
        "model-compiled": Target(
            lambda data: in_file(scratch / "model.mlm", lambda path: _score(morphlm.load(path)))(sign_compiled(data)),
            [(artefacts / "model.mlm").read_bytes()],
            JSON,
            behind_hashes=True,
        ),
        "checkpoint": forged("checkpoint", lambda path: read_checkpoint(path, IDENTITY)),
        "segmenter": forged("segmenter", _segment),
    }


def _read_tensors(path: Path) -> None:
    """The directory alone, without what a kind of model makes of it: every number is touched."""
    for tensor in read_model(path).tensors.values():
        tensor.tobytes()


def _analyse(path: Path) -> None:
    vectors = morphlm.load(path).vectors
    for word in ("školami", "x", WORDS[0]):
        if vectors.composable(word):
            vectors[word]


def _segment(path: Path) -> None:
    segmenter = morphlm.MorphemeSegmenter.load(path)
    segmenter.segment_all(["školami", "x", WORDS[0]])

#!/bin/sh
# Inflectional analogies under CLBL++, CLBL++ with wide contexts, and fastText, all learned from the same text.
#
#   python benchmarks/make_corpora.py DATA CORPORA cs ru
#   sh benchmarks/analogies.sh CORPORA DATA/ud OUT 'cs_cac ru_gsd' [OPTION OF `morphlm train`]...
#
# The questions are made from treebanks (benchmarks/analogies.py). fastText is gensim's, with 200,000 rows for subwords; its
# model is read as a .bin file, so that words which are not in the text are composed by both. What is complete is not made again.
set -eu
corpora=$1 treebanks=$2 out=$3 names=$4
shift 4
here=$(dirname "$0")
mkdir -p "$out"

for name in $names; do
    language=${name%%_*}
    text=$corpora/$language
    questions=$out/$language.questions.txt
    python "$here/analogies.py" "$treebanks/$name-ud-dev.conllu.xz" "$questions"
    for kind in plain wide; do
        wide=$([ $kind = wide ] && echo --wide-context || true)
        morphlm train clbl++ --train "$text/train.$language.txt" --dev "$text/dev.$language.txt" \
            --out "$out/$language.$kind" --resume $wide "$@"
    done
    for setting in '100 5' '200 20'; do # dimensions, epochs
        width=${setting% *} epochs=${setting#* }
        vectors=$out/$language.fasttext$width.bin
        [ -f "$vectors" ] || python "$here/fasttext_vectors.py" "$text/train.$language.txt" "$vectors" --buckets 200000 \
            --width "$width" --epochs "$epochs"
    done
    morphlm analogies "$out/$language.plain" "$questions"
    for kind in plain wide; do
        morphlm analogies "$out/$language.$kind" "$questions" --centre --normalise
    done
    morphlm analogies "$out/$language.fasttext100.bin" "$questions"
    morphlm analogies "$out/$language.fasttext200.bin" "$questions"
done

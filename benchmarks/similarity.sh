#!/bin/sh
# Word similarity of CLBL, CLBL++, CLBL++ with wide contexts, and fastText, all learned from the same text.
#
#   python benchmarks/make_corpora.py --all DATA CORPORA
#   sh benchmarks/similarity.sh CORPORA PAIRS OUT 'de en' [OPTION OF `morphlm train`]...
#
# PAIRS is a folder of LANGUAGE-NAME.tsv, `word TAB word TAB rating`. Prints a table a model; what is complete is not made
# again, so an interrupted run can be repeated. fastText is gensim's (benchmarks/fasttext_vectors.py).
set -eu
corpora=$1 pairs=$2 out=$3 languages=$4
shift 4
here=$(dirname "$0")

learn() { # KINDS OUT OPTION...
    kinds=$1 place=$2
    shift 2
    morphlm train --all --kinds "$kinds" --train "$corpora/$language/train.$language.txt" \
        --dev "$corpora/$language/dev.$language.txt" --test "$corpora/$language/test.$language.txt" \
        --stages "$out/$language/stages" --out "$place" --resume "$@"
}

for language in $languages; do
    echo "== $language"
    learn clbl,clbl++ "$out/$language" "$@"
    learn clbl++ "$out/$language.wide" --wide-context "$@"
    vectors=$out/$language.fasttext.bin
    [ -f "$vectors" ] || python "$here/fasttext_vectors.py" "$corpora/$language/train.$language.txt" "$vectors" \
        "$pairs/$language"-*.tsv
    for model in "$out/$language/clbl" "$out/$language/clbl++" "$out/$language.wide/clbl++" "$vectors"; do
        echo "$model"
        morphlm similarity "$model" "$pairs/$language"-*.tsv
    done
done

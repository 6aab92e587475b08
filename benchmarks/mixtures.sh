#!/bin/sh
# Mixtures of modified Kneser-Ney and CLBL++, and unknown words: composed in contexts, spelled where they are predicted.
#
#   sh benchmarks/mixtures.sh CORPORA OUT 'cs de ru'
#
# CORPORA is what benchmarks/make_corpora.py wrote, OUT what benchmarks/perplexity.sh wrote. The mixtures go to
# OUT/LANGUAGE/mixture (weights by context) and mixture1 (one weight each).
set -eu
corpora=$1 out=$2

for language in $3; do
    echo "== $language"
    models=$out/$language
    dev=$corpora/$language/dev.$language.txt test=$corpora/$language/test.$language.txt
    morphlm mix "$models/mkn" "$models/clbl++" --dev "$dev" --weights-by none --test "$test" --out "$models/mixture1"
    morphlm mix "$models/mkn" "$models/clbl++" --dev "$dev" --test "$test" --out "$models/mixture"
    for model in mkn clbl clbl++ mixture; do
        morphlm ppl "$models/$model" "$test" --open-vocabulary
        case $model in clbl++ | mixture) morphlm ppl "$models/$model" "$test" --open-vocabulary --unknown-contexts composed ;; esac
    done
done

#!/bin/sh
# What each part of the default recipe is worth, and what else was tried: CLBL++, a million tokens, three languages.
#
#   sh benchmarks/regularisation.sh CORPORA OUT ['OPTION OF `morphlm train`...']
#
# CORPORA is what benchmarks/make_corpora.py wrote; with the OUT of benchmarks/perplexity.sh its morphemes and classes are
# found again. Prints language, variant, best epoch, development and test perplexity; what is complete is not trained again.
set -eu
corpora=$1 out=$2 options=${3:-}

try() { # LANGUAGE NAME PLACE [OPTION]...
    language=$1 name=$2 place=$3 text=$corpora/$1
    shift 3
    morphlm train --all --kinds clbl++ --train "$text/train.$language.txt" --dev "$text/dev.$language.txt" \
        --test "$text/test.$language.txt" --stages "$out/$language/stages" --out "$place" --resume --json $options \
        "$@" | python -c "
import json, sys
row = json.load(sys.stdin)[0]
figures = [row[part]['perplexity_including_unknown'] for part in ('development', 'test')]
print('$language', '$name', row['training']['best_epoch'], *(f'{figure:.2f}' for figure in figures), sep='\t', flush=True)"
}

vary() { # NAME OPTION...
    name=$1
    shift
    for language in cs de fr; do try $language "$name" "$out/$language.tried/$name" "$@"; done
}

for language in cs de fr; do try $language default "$out/$language"; done
vary wide-context --wide-context
vary corpus-weight-1 --corpus-weight 1
vary no-dropout --prediction-dropout 0
vary constant-step --step-decay 1
vary gaussian-start --gaussian
vary paper --recipe paper
vary surface-dropout --surface-dropout 0.3
vary width-200 --width 200
vary context-dropout --context-dropout 0.1
vary decay-inside --decay-inside --decay 30

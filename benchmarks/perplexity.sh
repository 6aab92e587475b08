#!/bin/sh
# Test perplexities of a million tokens of training text in six languages, as in the paper's model selection (4.1).
#
#   python benchmarks/make_corpora.py DATA CORPORA
#   sh benchmarks/perplexity.sh CORPORA OUT [OPTION OF `morphlm train --all`]...
#
# Prints a table a language. What is complete is not trained again, so an interrupted run can be repeated.
set -eu
corpora=$1 out=$2
shift 2

compare() { # LANGUAGE KINDS [OPTION]...
    language=$1 kinds=$2 text=$corpora/$1
    shift 2
    echo "== $language"
    morphlm train --all --kinds "$kinds" --train "$text/train.$language.txt" --dev "$text/dev.$language.txt" \
        --test "$text/test.$language.txt" --out "$out/$language" --resume "$@"
}

for language in cs de es fr en ru; do compare $language mkn,clbl,clbl++ "$@"; done
for language in cs de; do compare $language mkn,clbl,clbl+c,clbl+o,clbl++,lbl,lbl+c,lbl+o,lbl++ "$@"; done

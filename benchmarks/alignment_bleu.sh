#!/usr/bin/env bash
# BLEU and chrF of translation systems whose words were aligned in different ways (the tension fitted, or fixed), or whose
# rules were extracted from all phrases or from tight ones.
#
#     benchmarks/alignment_bleu.sh DATA OUT PAIR [SETTING ...]
#
# DATA has parallel/PAIR.tsv.xz (genre, source, target) and newstest/newstest20{12,13}.LANGUAGE.txt.xz; PAIR is such as en-cs. A SETTING is `fitted`, or
# `fixed4` for a fixed tension of 4, and `fixed4-tight` for the rules of tight phrases only (with the alignment of fixed4); default:
# fitted fixed4 fixed2. The first setting is what the others are compared with. One Kneser-Ney model of the target side, three runs of
# MERT (RUNS) with at most 15 iterations on 400 sentences of newstest2012, tested on all of newstest2013. What is there
# already is not made again, so that an interrupted run goes on.
set -euo pipefail
data=$1 out=$2 pair=$3
shift 3
settings=("${@:-fitted fixed4 fixed2}")
read -ra settings <<<"${settings[*]}"
source=${pair%-*} target=${pair#*-} runs=${RUNS:-3}
mkdir -p "$out/$pair"
cd "$out/$pair"

make() { # FILE COMMAND...: unless the file is there; the command writes to standard output
    local file=$1
    shift
    [ -e "$file" ] || { "$@" >"$file.part" && mv "$file.part" "$file"; }
}
column() { xzcat "$data/parallel/$pair.tsv.xz" | cut -f"$1"; }
spaced() { xzcat "$1" | awk -v each="$2" 'NR % each == 1'; }
text() { echo "$data/newstest/newstest$1.$2.txt.xz"; }

make raw.$source column 2
make raw.$target column 3
[ -e train.$target ] || morphlm translate prepare raw.$source raw.$target --languages "$source,$target" --out train.$source train.$target
for language in $source $target; do
    make dev.$language spaced "$(text 2012 $language)" $(($(xzcat "$(text 2012 $language)" | wc -l) / 400))
    make test.$language xzcat "$(text 2013 $language)"
done
[ -e mkn/manifest.json ] || morphlm train mkn --train train.$target --order 4 --kappa 0.05 --out mkn

compared=()
for setting in "${settings[@]}"; do
    aligned=${setting%-tight} rules=(--loose-phrases)
    [ "$aligned" = "$setting" ] || rules=(--tight-phrases)
    case $aligned in
        fitted) options=(--optimise-tension) ;;
        fixed*) options=(--fixed-tension --tension "${aligned#fixed}") ;;
        *) echo "$setting: a setting is fitted, fixed4, fixed4-tight or the like" >&2 && exit 2 ;;
    esac
    mkdir -p "$setting" "$aligned"
    make "$aligned/align" morphlm translate align train.$source train.$target "${options[@]}"
    [ -e "$aligned/bitext" ] || morphlm translate extract "$aligned/bitext" --from train.$source train.$target "$aligned/align"
    morphlm translate build --bitext "$aligned/bitext" "${rules[@]}" --languages "$source,$target" --lm mkn --dev dev.$source dev.$target \
        --runs "$runs" --iterations 15 --out "$setting/system" >&2
    for run in $(seq "$runs"); do
        make "$setting/out.$run" morphlm translate decode "$setting/system" test.$source --run "$run"
        if [ "$setting" = "${settings[0]}" ]; then
            compared+=(--baseline "$setting/out.$run")
        else
            compared+=(--system "$setting" "$setting/out.$run")
        fi
    done
    [ "$setting" = "${settings[0]}" ] || morphlm translate evaluate "${compared[@]}" test.$target | tee result.txt
done

#!/usr/bin/env bash
# From nothing to a comparison: install, write the demo corpus, train three small models, evaluate them.
#   bash examples/quickstart/run.sh [OUT]      (default OUT: out/quickstart in the checkout)
# OUT/report.html, OUT/report.json and OUT/accuracies.png hold the results; a finished step is not repeated.
set -euo pipefail
root="$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd -P)"
out="${1:-$root/out/quickstart}"
mkdir -p "$out"
out="$(cd "$out" && pwd -P)"
CTXMT_EXTRAS="${CTXMT_EXTRAS-}"
source "$root/scripts/environment.sh"
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}" # two trainings run side by side

step() { printf '\n== %s\n' "$*"; }

step "Demo corpus"
[[ -d "$out/text" ]] || ctxmt demo-corpus "$out/text"
[[ -d "$out/data" ]] || ctxmt preprocess --source-lang en --target-lang fr --vocab-size 1000 --spm-type bpe --joint \
    --train "$out/text/train" --valid "$out/text/valid" --test "$out/text/test" --out "$out/data"

# NAME SYSTEM CONTEXT UPDATES: windows of CONTEXT + 1 sentences on both sides
train() {
    local system="$1" kind="$2" context="$3" updates="$4"
    [[ -f "$out/$system/finished" ]] && return
    ctxmt train "$kind" "$out/data" "$out/$system" --size tiny \
        --source-context "$context" --target-context "$context" --adam-betas '(0.9, 0.98)' --lr 3e-3 \
        --max-tokens 2000 --max-update "$updates" --no-epoch-checkpoints --cpu > "$out/$system.txt" 2>&1 ||
        { tail -n 20 "$out/$system.txt" >&2; echo "error: training $system failed, see $out/$system.txt" >&2; return 1; }
    touch "$out/$system/finished"
}

step "Training: sentence (transformer), s2to2 and s3to3 (shift + context discount); logs in $out/*/train.log"
train s3to3 focused 2 1200 &
s3to3=$!
train sentence sentence 0 300
train s2to2 focused 1 1400
wait "$s3to3"

step "Translation and contrastive sets"
sets="$(python "$root/examples/quickstart/report.py" sets "$out")"
mapfile -t sets <<< "$sets"
runs=("$out/sentence" "$out/s2to2" "$out/s3to3")
for run in "${runs[@]}"; do
    echo "-- ${run##*/}"
    ctxmt evaluate "$run" "$out/text/test" "${sets[@]}" --beam 4 --lenpen 0.6 --cpu > "$run/evaluation.txt"
done

step "Significance and attention"
ctxmt compare translations "$out/text/test.fr" "${runs[@]/%//evaluation/prefix.hyp}" \
    --docids "$out/text/test.docids" --json "$out/compared.json" > "$out/compared.txt"
windows=("${runs[@]:1}")
ctxmt analyse attention-share "${windows[@]/%//checkpoints/checkpoint_best.pt}" "$out/text/test" --cpu \
    --json "$out/attention.json" --output "$out/entropy.png" > "$out/attention.txt"

step "Report"
python "$root/examples/quickstart/report.py" report "$out"
ctxmt report "${runs[@]}" "$out/compared.json" "$out/attention.json" "$out/accuracies.png" "$out/entropy.png" \
    --title "Quickstart: three systems on the demo corpus" --source "$out/text/test.en" \
    --reference "$out/text/test.fr" --docids "$out/text/test.docids" --sets "${sets[@]}" --output "$out/report.html"

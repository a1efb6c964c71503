#!/usr/bin/env bash
# Few-shot control of formality on the demo corpus, without downloads, on one core: the first training has genre and
# plot for context, which imply how formal a document is and never name it; then K examples of each combination of
# formality, speaker and addressee do. A finished step is not repeated; see --help.
set -euo pipefail
usage="usage: few_shot_demo.sh [OUT]  (default: out/few_shot_demo in the checkout)
environment: SEEDS (default: 1), COUNTS (default: 0,1,5,30,all)
results: OUT/few-shot.png and OUT/SEED/few-shot/SYSTEM-K.json"
case "${1:-}" in
    -h | --help) echo "$usage" && exit 0 ;;
    -*) echo "$usage" >&2 && exit 2 ;;
esac
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)"
out="${1:-$here/../../out/few_shot_demo}"
mkdir -p "$out"
out="$(cd "$out" && pwd -P)"
CTXMT_EXTRAS="${CTXMT_EXTRAS:-embed,plots}"
source "$here/../../scripts/environment.sh"
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}" PROFILE=small GPUS=0 BATCH_TOKENS=1000 CONTEXT_DROPOUT=0.2

for formality in implied stated; do
    [[ -d "$out/$formality" ]] || ctxmt demo-corpus "$out/$formality" --documents 3000 --formality "$formality" \
        --phenomena deixis,speaker-gender,addressee-gender
done
python3 "$here/attribute_set.py" "$out/stated" > "$out/set.jsonl"
[[ -f "$out/data/prepared" ]] || {
    "$here/prepare.sh" "$out/implied/train" "$out/implied/valid" "$out/data" --target-lang fr --vocab-size 600 \
        --encoders minilm --fields genre,plot
    touch "$out/data/prepared"
}
for seed in ${SEEDS:-1}; do
    for row in BASE BASE-PM MTCUE; do
        [[ -f "$out/$seed/$row/finished" ]] || {
            "$here/train.sh" "$row" "$out/data" "$out/$seed/$row" --max-update 1000 --seed "$seed"
            touch "$out/$seed/$row/finished"
        }
    done
    "$here/few_shot.sh" "$out/stated/train" "$out/stated/valid" "$out/set.jsonl" "$out/data" "$out/$seed" \
        "$out/$seed/few-shot" --attributes formality,speaker,addressee --counts "${COUNTS:-0,1,5,30,all}" \
        --seed "$seed" -- --max-update 600
done
ctxmt analyse results "$out"/*/few-shot/*-*.json --across examples --output "$out/few-shot.png"

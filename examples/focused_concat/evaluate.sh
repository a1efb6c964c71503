#!/usr/bin/env bash
# Evaluates a trained system as the focused-concatenation paper does: averaging, translation, contrastive suites.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)"
source "$here/../recipe.sh"

: "${OUT:=RUN/evaluation}" "${AVERAGE:=5}" "${BEAM:=4}" "${LENPEN:=0.6}" "${DECODING:=window prefix}" "${WINDOW:=trained}"
: "${LOWERCASE:=no}" "${TOKENIZE:=13a}" "${MAX_LEN_A:=0}" "${MAX_LEN_B:=200}" "${DOCUMENTS:=}" "${DEVICE:=auto}"

usage() {
    cat << END
Usage: evaluate.sh DATA RUN TEXT [SUITE...] [OPTIONS] [-- OPTIONS OF ctxmt translate]
RUN is train.sh's OUT, DATA its data folder, TEXT the prefix of the test text (TEXT.SRC, TEXT.TGT, TEXT.docids and, where
lines serve as context only, TEXT.current), each SUITE a contrastive set. All results: OUT/results.json, and a table.
  --out DIR             (default: $OUT)
  --average N           checkpoints nearest the best to average (default: $AVERAGE)
  --beam N, --lenpen X  (default: $BEAM, $LENPEN)
  --max-len-a X, --max-len-b N  a sentence has at most X times its source's tokens plus N (default: $MAX_LEN_A, $MAX_LEN_B)
  --decoding "NAME..."  window: decode the whole target window and keep the last sentence, as the paper does;
                        prefix: force the earlier translations (default: "$DECODING")
  --window K            windows of K sentences instead of the trained size (the paper's Figure 4; default: $WINDOW)
  --lowercase yes|no    BLEU ignores case (the paper: En-Ru; default: $LOWERCASE)
  --tokenize NAME       BLEU's tokenizer; none for text that is tokenized, as En-Ru's (default: $TOKENIZE)
  --documents DIR       ContraPro's context documents
  --device auto|cpu     (default: $DEVICE)
END
}

parse_options "out average beam lenpen max-len-a max-len-b decoding window lowercase tokenize documents device" "$@"
((${#ARGUMENTS[@]} >= 3)) || die "expected DATA RUN TEXT; see --help"
data="${ARGUMENTS[0]}" run="${ARGUMENTS[1]}" text="${ARGUMENTS[2]}"
suites=("${ARGUMENTS[@]:3}")
[[ "$OUT" != RUN/evaluation ]] || OUT="$run/evaluation"
whole AVERAGE BEAM MAX_LEN_B
commands ctxmt python
read_languages "$data"

model=(--data "$data")
[[ "$DEVICE" != cpu ]] || model+=(--cpu)
if [[ "$WINDOW" != trained ]]; then
    whole WINDOW
    model+=(--source-context $((WINDOW - 1)) --target-context $((WINDOW - 1)))
fi
score=(--docids "$text.docids" --tokenize "$TOKENIZE")
[[ "$LOWERCASE" != yes ]] || score+=(--lowercase)
translate=(--docids "$text.docids" --beam "$BEAM" --lenpen "$LENPEN" --max-len-a "$MAX_LEN_A" --max-len-b "$MAX_LEN_B")
if [[ -f "$text.current" ]]; then
    translate+=(--current "$text.current")
    score+=(--current "$text.current")
fi

mkdir -p "$OUT"
ctxmt average "$run/checkpoints" --count "$AVERAGE" --output "$OUT/averaged.pt"
for decoding in $DECODING; do
    ctxmt translate "$OUT/averaged.pt" "$text.$SOURCE_LANG" --output "$OUT/$decoding.hyp" --decoding "$decoding" \
        "${translate[@]}" "${model[@]}" ${EXTRA[@]+"${EXTRA[@]}"}
    ctxmt score "$OUT/$decoding.hyp" "$text.$TARGET_LANG" "${score[@]}" --json "$OUT/$decoding.score.json"
done
contrast "$OUT/averaged.pt" "$OUT" "${model[@]}" -- ${suites[@]+"${suites[@]}"}
python "$here/../results.py" "$OUT"

#!/usr/bin/env bash
# Trains and evaluates one concatenation row of the thesis (tables 6.1 to 6.6) with fairseq's own transformer.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)"
source "$here/../recipe.sh"

: "${PROFILE:=paper}" "${TEXT:=}" "${DEV:=}" "${SENTENCE_LIMIT:=80}" "${WINDOW_LIMIT:=auto}" "${LENPEN:=0.6}" "${BEAM:=6}"
: "${CONTEXTS:=document}" "${BOOTSTRAP:=0}" "${MAX_LEN_A:=0}" "${MAX_LEN_B:=200}" "${DEVICE:=auto}" "${DOCUMENTS:=}"
: "${LR:=auto}" "${WARMUP:=auto}" "${BATCH_TOKENS:=25000}" "${MAX_TOKENS:=auto}" "${PATIENCE:=10}" "${SEED:=1}"
: "${GPUS:=auto}" "${NODES:=1}" "${PORT:=29500}" "${PRECISION:=auto}"

usage() {
    cat << END
Usage: thesis.sh ROW DATA OUT [SUITE...] [OPTIONS] [-- OPTIONS OF fairseq-train]
ROW   src0tgt0_to_tgt0, src1tgt0_to_tgt0, src2tgt0_to_tgt0, src1tgt1ref_to_tgt0, src1tgt1mt_to_tgt0, src1tgt0_to_tgt1,
      src1tgt0_to_tgt1_1st, src1tgt1_to_tgt1
Models come to OUT/models (rows that differ in evaluation alone share one; a finished one is not trained again), the
results to OUT/ROW, one translation per length normalisation and kind of context. DRY_RUN=1 prints the training command only.
  --text PREFIX         evaluate on PREFIX.SRC, PREFIX.TGT, PREFIX.docids (default: train only)
  --lenpen X|opt        length normalisation; opt: the best of 0.4, 0.5, .. 3.0 on --dev (default: $LENPEN)
  --dev PREFIX          the text for opt
  --contexts "NAME..."  document (real), random, empty (null) (default: $CONTEXTS)
  --beam N              (default: $BEAM)
  --max-len-a X, --max-len-b N  a sentence has at most X times its source's tokens plus N (default: $MAX_LEN_A, $MAX_LEN_B)
  --bootstrap N         samples for BLEU's interval; the thesis: 10000 (default: $BOOTSTRAP)
  --sentence-limit N    training leaves out windows of more than N subwords per source sentence (default: $SENTENCE_LIMIT;
                        the thesis: 80 for Europarl, 55 for OpenSubtitles)
  --window-limit N      the same for the whole window (default: $WINDOW_LIMIT; table 6.6's second baseline: 160)
  --profile paper|small Transformer-base, or two layers of 128 units (default: $PROFILE)
  --lr X, --warmup N    (default: $LR, $WARMUP: 7e-4 and 4000, small 2e-3 and 400)
  --batch-tokens N, --max-tokens N  per update on all GPUs, per GPU and step (default: $BATCH_TOKENS, $MAX_TOKENS)
  --patience N, --seed N (default: $PATIENCE, $SEED)
  --gpus N, --nodes N, --port N, --precision NAME  as in focused_concat/train.sh (default: $GPUS, $NODES, $PORT, $PRECISION)
  --device auto|cpu, --documents DIR  as in focused_concat/evaluate.sh
END
}

# ROW -> the array WINDOW, the number of source SENTENCES, and what evaluation needs: FROM (none, ref, mt), KEEP
row() {
    FROM=none KEEP=current MODEL="$1"
    local source=0 on_source=0 target=0
    case "$1" in
        src0tgt0_to_tgt0) ;;
        src1tgt0_to_tgt0) source=1 ;;
        src2tgt0_to_tgt0) source=2 ;;
        src1tgt1ref_to_tgt0) source=1 on_source=1 FROM=ref MODEL=src1tgt1_to_tgt0 ;;
        src1tgt1mt_to_tgt0) source=1 on_source=1 FROM=mt MODEL=src1tgt1_to_tgt0 ;;
        src1tgt0_to_tgt1) source=1 target=1 ;;
        src1tgt0_to_tgt1_1st) source=1 target=1 KEEP=first MODEL=src1tgt0_to_tgt1 ;;
        src1tgt1_to_tgt1) source=1 on_source=1 target=1 FROM=ref ;;
        *) die "$1: no such row; see --help" ;;
    esac
    WINDOW=(--source-context "$source" --target-context-on-source "$on_source" --target-context "$target")
    SENTENCES=$((1 + source + on_source))
}

# train_model MODEL: unless it is there already.
train_model() {
    local size=() limit="$WINDOW_LIMIT"
    [[ "$limit" != auto ]] || limit=$((SENTENCE_LIMIT * SENTENCES))
    whole limit
    if [[ "$PROFILE" == small ]]; then
        size=(--encoder-layers 2 --encoder-embed-dim 128 --encoder-ffn-embed-dim 256 --encoder-attention-heads 4
            --decoder-layers 2 --decoder-embed-dim 128 --decoder-ffn-embed-dim 256 --decoder-attention-heads 4)
    fi
    [[ ! -f "$out/models/$1/finished" ]] || return 0
    train "$data" "$out/models/$1" --arch transformer ${size[@]+"${size[@]}"} --share-all-embeddings --dropout 0.1 \
        "${WINDOW[@]}" --max-window-tokens "$limit" --criterion label_smoothed_cross_entropy --label-smoothing 0.1 \
        "${ADAM[@]}" --patience "$PATIENCE" --keep-last-epochs 1 --seed "$SEED"
    [[ -n "${DRY_RUN:-}" ]] || touch "$out/models/$1/finished"
}

# translate MODEL TEXT OUTPUT LENPEN OPTION...
translate() {
    local model="$out/models/$1/checkpoints/checkpoint_best.pt" text="$2" output="$3" lenpen="$4"
    shift 4
    ctxmt translate "$model" "$text.$SOURCE_LANG" --docids "$text.docids" --output "$output" --data "$data" \
        --beam "$BEAM" --lenpen "$lenpen" --max-len-a "$MAX_LEN_A" --max-len-b "$MAX_LEN_B" ${on_device[@]+"${on_device[@]}"} "$@"
}

# shift_references TEXT PREFIX: the first sentence of a window is the previous line. PREFIX.ref has every line's
# predecessor, PREFIX.current marks the lines that have one.
shift_references() {
    paste -d '\n' "$1.docids" "$1.$TARGET_LANG" | MARKS="$2.current" awk '
        NR % 2 { first = (NR == 1 || $0 != id); id = $0; next }
        { print (first ? $0 : previous); print (first ? 0 : 1) > ENVIRON["MARKS"]; previous = $0 }' > "$2.ref"
}

# given_context TEXT FOLDER -> CONTEXT_FILE: the previous target sentences, references or another model's translations.
given_context() {
    mkdir -p "$2"
    CONTEXT_FILE="$1.$TARGET_LANG"
    [[ "$FROM" == mt ]] || return 0
    CONTEXT_FILE="$2/first-pass.hyp"
    translate src1tgt0_to_tgt0 "$1" "$CONTEXT_FILE" 0.6
}

# evaluate_on TEXT FOLDER LENPEN CONTEXT: FOLDER/nLENPEN.CONTEXT.hyp and .score.json
evaluate_on() {
    local text="$1" folder="$2" lenpen="$3" context="$4"
    local result="$folder/n$lenpen.$context" reference="$text.$TARGET_LANG" scoring=()
    local options=(--decoding window --keep-sentence "$KEEP" --context-selection "$context")
    [[ "$FROM" == none ]] || options+=(--target-context-from "$CONTEXT_FILE")
    translate "$MODEL" "$text" "$result.hyp" "$lenpen" "${options[@]}"
    if [[ "$KEEP" == first ]]; then
        shift_references "$text" "$folder/shifted"
        reference="$folder/shifted.ref" scoring=(--current "$folder/shifted.current")
    fi
    ctxmt score "$result.hyp" "$reference" --bootstrap "$BOOTSTRAP" ${scoring[@]+"${scoring[@]}"} \
        --json "$result.score.json" > /dev/null
}

# best_lenpen: the length normalisation of 0.4, 0.5, .. 3.0 with the best BLEU on DEV (thesis, 6.3.8).
best_lenpen() {
    local n
    given_context "$DEV" "$out/$row/dev"
    for n in $(LC_ALL=C seq 0.4 0.1 3.0); do
        evaluate_on "$DEV" "$out/$row/dev" "$n" document
    done
    python - "$out/$row/dev" << 'END'
import json
import sys
from pathlib import Path

bleu = {path.name: json.loads(path.read_text())["scores"][0]["score"] for path in Path(sys.argv[1]).glob("n*.score.json")}
print(max(bleu, key=bleu.get)[1:].removesuffix(".document.score.json"))
END
}

parse_options "profile text dev sentence-limit window-limit lenpen beam contexts bootstrap max-len-a max-len-b device \
documents lr warmup batch-tokens max-tokens patience seed gpus nodes port precision" "$@"
((${#ARGUMENTS[@]} >= 3)) || die "expected ROW DATA OUT; see --help"
row="${ARGUMENTS[0]}" data="${ARGUMENTS[1]}" out="${ARGUMENTS[2]}"
suites=("${ARGUMENTS[@]:3}")
case "$PROFILE" in
    paper) lr=7e-4 warmup=4000 ;;
    small) lr=2e-3 warmup=400 ;;
    *) die "--profile $PROFILE: expected paper or small" ;;
esac
[[ "$LR" != auto ]] || LR="$lr"
[[ "$WARMUP" != auto ]] || WARMUP="$warmup"
[[ "$LENPEN" != opt || -n "$DEV" || -z "$TEXT" ]] || die "--lenpen opt: expected --dev"
whole SENTENCE_LIMIT BEAM BOOTSTRAP MAX_LEN_B WARMUP PATIENCE SEED
commands ctxmt fairseq-train python
row "$row"
plan_workers
plan_batch
vaswani
train_model "$MODEL"
[[ -z "${DRY_RUN:-}" && -n "$TEXT" ]] || exit 0

if [[ "$FROM" == mt && ! -f "$out/models/src1tgt0_to_tgt0/finished" ]]; then
    die "$out/models/src1tgt0_to_tgt0: expected the model of the first pass; run the row src1tgt0_to_tgt0 first"
fi
read_languages "$data"
on_device=()
[[ "$DEVICE" != cpu ]] || on_device=(--cpu)
[[ "$LENPEN" != opt ]] || LENPEN="$(best_lenpen)"
given_context "$TEXT" "$out/$row"
for context in $CONTEXTS; do
    evaluate_on "$TEXT" "$out/$row" "$LENPEN" "$context"
done
contrast "$out/models/$MODEL/checkpoints/checkpoint_best.pt" "$out/$row" --data "$data" \
    ${on_device[@]+"${on_device[@]}"} -- ${suites[@]+"${suites[@]}"}
python "$here/../results.py" "$out/$row"

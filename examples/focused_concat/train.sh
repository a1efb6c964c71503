#!/usr/bin/env bash
# Trains one system of the focused-concatenation paper (Lupo et al. 2022, appendix A).
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../recipe.sh"

: "${PROFILE:=en-ru}" "${LR:=auto}" "${BATCH_TOKENS:=auto}" "${WARMUP:=auto}" "${DROPOUT:=auto}" "${PATIENCE:=12}"
: "${VALIDATE_EVERY:=auto}" "${MAX_UPDATE:=auto}" "${SEED:=1}"
: "${MAX_TOKENS:=auto}" "${GPUS:=auto}" "${NODES:=1}" "${PORT:=29500}" "${PRECISION:=auto}"

usage() {
    cat << END
Usage: train.sh SYSTEM DATA OUT [OPTIONS] [-- OPTIONS OF fairseq-train]
SYSTEM is a row of the paper's tables: base, or sKtoK (windows of K sentences on both sides, K from 2) followed by any of
  +CD, +CD=X           context discount 0.01, or X
  +shift, +shift=N     positions shifted after every sentence: by avg-corpus (default), avg-sequence or a number
  +lrn, +sin           learned or sinusoidal segment embeddings instead
for example s4to4, s4to4+CD, s2to2+shift+CD, s4to4+shift=100+CD, s4to4+lrn+CD.
Checkpoints come to OUT/checkpoints; an interrupted training goes on. DRY_RUN=1 prints the command only.
  --profile NAME      en-ru: Transformer-base, batches of 32000 tokens, as in the paper; en-de: of 16000;
                      small: two layers of 128 units, for two CPU cores (default: $PROFILE)
  --lr X              maximum learning rate (default: $LR: 7e-4, small 2e-3); the paper takes the best of
                      7e-4, 9e-4, 1e-3, 3e-3, which search_lr.sh does
  --batch-tokens N    tokens per update on all GPUs together (default: $BATCH_TOKENS: as the profile)
  --max-tokens N      tokens per GPU and step, must divide the batch (default: $MAX_TOKENS: the most up to 4000 that do)
  --warmup N          updates until the learning rate's maximum (default: $WARMUP: 4000, small 200)
  --dropout X         (default: $DROPOUT: 0.3, small 0.1)
  --patience N        validations without a better loss until it ends (default: $PATIENCE)
  --validate-every N  updates between validations (default: $VALIDATE_EVERY: 0, once per epoch; small 200)
  --max-update N      (default: $MAX_UPDATE: 0, no end but patience; small 800)
  --gpus N            GPUs per machine, 0 for the CPU (default: $GPUS: all)
  --nodes N           machines; start this script on each with torchrun or srun, see README.md (default: $NODES)
  --port N            of the first machine, for srun (default: $PORT)
  --precision NAME    fp32, fp16, amp or bf16 (default: $PRECISION: fp16 on GPUs)
  --seed N            (default: $SEED)
END
}

# profile LR BATCH WARMUP DROPOUT VALIDATE_EVERY MAX_UPDATE: the values of the options that are left open.
profile() {
    local name
    for name in LR BATCH_TOKENS WARMUP DROPOUT VALIDATE_EVERY MAX_UPDATE; do
        [[ "${!name}" != auto ]] || printf -v "$name" %s "$1"
        shift
    done
}

# SYSTEM -> the array MODEL
model_flags() {
    local name="$1" part window=0 discount=1 positions=none shift_by=avg-corpus
    local parts=()
    IFS=+ read -r -a parts <<< "$name"
    if [[ "${parts[0]:-}" =~ ^s([0-9]+)to([0-9]+)$ ]]; then
        window=$((10#${BASH_REMATCH[1]} - 1))
        ((window > 0 && 10#${BASH_REMATCH[2]} == window + 1)) || die "$name: expected sKtoK with K from 2"
    elif [[ "$name" != base ]]; then
        die "$name: expected base or sKtoK with +CD, +shift, +lrn, +sin; see --help"
    fi
    for part in "${parts[@]:1}"; do
        case "$part" in
            CD) discount=0.01 ;;
            CD=?*) discount="${part#CD=}" ;;
            shift | lrn | sin | shift=?*)
                [[ "$positions" == none ]] || die "$name: expected one of +shift, +lrn, +sin"
                case "$part" in
                    lrn) positions=learned ;;
                    sin) positions=sinusoidal ;;
                    shift) positions='shift' ;;
                    *) positions='shift' shift_by="${part#shift=}" ;;
                esac
                ;;
            *) die "$name: +$part: expected +CD, +shift, +lrn or +sin; see --help" ;;
        esac
    done
    MODEL=(--source-context "$window" --target-context "$window" --segment-positions "$positions")
    [[ "$positions" != shift ]] || MODEL+=(--segment-shift "$shift_by")
    # Discount 1 is fairseq's own loss, and logs the current sentences' for every system (Figures 2 and 3).
    MODEL+=(--criterion context_discounted_label_smoothed_cross_entropy --context-discount "$discount")
}

parse_options "profile lr batch-tokens max-tokens warmup dropout patience validate-every max-update gpus nodes port \
precision seed" "$@"
((${#ARGUMENTS[@]} == 3)) || die "expected SYSTEM DATA OUT; see --help"
arch=concat_transformer_base
case "$PROFILE" in
    en-ru) profile 7e-4 32000 4000 0.3 0 0 ;;
    en-de) profile 7e-4 16000 4000 0.3 0 0 ;;
    small) profile 2e-3 4000 200 0.1 200 800 && arch=concat_transformer_tiny ;;
    *) die "--profile $PROFILE: expected en-ru, en-de or small" ;;
esac
model_flags "${ARGUMENTS[0]}"
whole WARMUP PATIENCE VALIDATE_EVERY MAX_UPDATE SEED
commands ctxmt fairseq-train
plan_workers
plan_batch
vaswani
# Kept checkpoints: `ctxmt average` wants two before the best, and patience ends so many after it.
kept=$((PATIENCE + 3))
train "${ARGUMENTS[1]}" "${ARGUMENTS[2]}" --arch "$arch" --share-all-embeddings "${MODEL[@]}" --label-smoothing 0.1 \
    --dropout "$DROPOUT" "${ADAM[@]}" --patience "$PATIENCE" --keep-last-epochs "$kept" \
    --save-interval-updates "$VALIDATE_EVERY" --keep-interval-updates "$kept" --max-update "$MAX_UPDATE" \
    --seed "$SEED"

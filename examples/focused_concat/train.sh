#!/usr/bin/env bash
# shellcheck disable=SC2034,SC2153 # training.sh sets and reads some variables
# Trains one system of the focused-concatenation paper (Lupo et al. 2022, appendix A).
set -euo pipefail
PROFILES=("en-ru 7e-4 32000 4000 0.3 0 0" "en-de 7e-4 16000 4000 0.3 0 0")
: "${PATIENCE:=12}"
source "$(dirname "${BASH_SOURCE[0]}")/../training.sh"

usage() {
    cat << END
Usage: train.sh SYSTEM DATA OUT [OPTIONS] [-- OPTIONS OF fairseq-train]
SYSTEM is a row of the paper's tables: base, or sKtoK (windows of K sentences on both sides, K from 2) followed by any of
  +CD, +CD=X           context discount 0.01, or X
  +shift, +shift=N     positions shifted after every sentence: by avg-corpus (default), avg-sequence or a number
  +lrn, +sin           learned or sinusoidal segment embeddings instead
for example s4to4, s4to4+CD, s2to2+shift+CD, s4to4+shift=100+CD, s4to4+lrn+CD.
The paper takes the best learning rate of 7e-4, 9e-4, 1e-3, 3e-3, which search_lr.sh does.
END
    training_usage
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
    CRITERION=context_discounted_label_smoothed_cross_entropy
    MODEL+=(--context-discount "$discount")
}

parse_options "$TRAINING_OPTIONS" "$@"
((${#ARGUMENTS[@]} == 3)) || die "expected SYSTEM DATA OUT; see --help"
use_profile
architecture_size
model_flags "${ARGUMENTS[0]}"
train_row "${ARGUMENTS[1]}" "${ARGUMENTS[2]}" --task document_window --arch "concat_transformer_$ARCH_SIZE" \
    --share-all-embeddings "${MODEL[@]}"

#!/usr/bin/env bash
# shellcheck disable=SC2034,SC2153 # training.sh sets and reads some variables
# Trains one row of table 1 of Voita et al. 2018 with the parameters of Vaswani et al. 2017, to whom the paper refers.
set -euo pipefail
PROFILES=("paper 7e-4 25000 4000 0.1 0 0")
: "${KEPT:=1}"
source "$(dirname "${BASH_SOURCE[0]}")/../training.sh"

usage() {
    cat << END
Usage: train.sh ROW DATA OUT [OPTIONS] [-- OPTIONS OF fairseq-train]
ROW is a row of the paper's table 1:
  baseline         the Transformer on single sentences
  concatenation    the previous sentence before the current one, a binary flag at every word in place of a separator
  previous, next   the context encoder with the previous or the next sentence
Random context is an evaluation of previous: evaluate.sh --contexts "trained random".
END
    training_usage
}

# ROW -> the array MODEL
model_flags() {
    case "$1" in
        baseline) MODEL=(--task document_window --arch "$(untied concat_transformer)") ;;
        concatenation)
            MODEL=(--task document_window --arch "$(untied concat_transformer)" --source-context 1
                --no-separator --segment-positions flag)
            ;;
        previous) MODEL=(--task multi_source --arch "$(untied gated_context_transformer)" --source-context 1) ;;
        next) MODEL=(--task multi_source --arch "$(untied gated_context_transformer)" --source-context-after 1) ;;
        *) die "$1: expected baseline, concatenation, previous or next; see --help" ;;
    esac
    MODEL+=(--share-decoder-input-output-embed)
}

parse_options "$TRAINING_OPTIONS" "$@"
((${#ARGUMENTS[@]} == 3)) || die "expected ROW DATA OUT; see --help"
use_profile
model_flags "${ARGUMENTS[0]}"
train_row "${ARGUMENTS[1]}" "${ARGUMENTS[2]}" "${MODEL[@]}"

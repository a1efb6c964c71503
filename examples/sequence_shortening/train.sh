#!/usr/bin/env bash
# shellcheck disable=SC2034,SC2153 # training.sh sets and reads some variables
# Trains one row of the sequence-shortening paper's tables 2 and 3 (hyper-parameters: its appendix A, table 4).
set -euo pipefail
PROFILES=("en-de 5e-4 32768 2500 0.3 0 0" "en-fr 5e-4 32768 2500 0.3 0 0")
: "${PATIENCE:=5}" "${SEED:=42}" "${ADAM_EPS:=1e-8}" "${STEP_TOKENS:=4096}" "${KEPT:=1}"
source "$(dirname "${BASH_SOURCE[0]}")/../training.sh"

usage() {
    cat << END
Usage: train.sh ROW DATA OUT [OPTIONS] [-- OPTIONS OF fairseq-train]
ROW is sentence-level, or one of these with N context sentences (the paper: 1 to 3):
  single-encoder-N, multi-encoder-N, caching-tokens-N, caching-sentence-N,
  max-pooling-N, avg-pooling-N, linear-pooling-N (K = 2), grouping-N, selecting-N (K = 9, 10 for en-de, 11 for en-fr)
Another K: "-- --shortening-size K".
END
    training_usage
}

# ROW -> the array MODEL
model_flags() {
    local row="$1" context="${1##*-}" arch=caching_transformer grouping=11 selecting=11
    [[ "$PROFILE" != en-de ]] || grouping=9 selecting=10 # section 5.2
    [[ "$row" != sentence-level ]] || context=0
    [[ "$context" =~ ^[0-9]+$ ]] || die "$row: expected sentence-level, or a row with its number of context sentences"
    MODEL=(--task multi_source)
    case "${row%-*}" in
        sentence | single-encoder) arch=concat_transformer MODEL=(--task document_window) ;;
        multi-encoder) arch=dual_encoder_transformer MODEL+=(--context-fusion concat --context-layout joined) ;;
        caching-tokens) MODEL+=(--shortening none) ;;
        caching-sentence) MODEL+=(--shortening sentence) ;;
        max-pooling) MODEL+=(--shortening max --shortening-size 2) ;;
        avg-pooling) MODEL+=(--shortening mean --shortening-size 2) ;;
        linear-pooling) MODEL+=(--shortening linear --shortening-size 2) ;;
        grouping) MODEL+=(--shortening group --shortening-size "$grouping") ;;
        selecting) MODEL+=(--shortening select --shortening-size "$selecting") ;;
        *) die "$row: no such row; see --help" ;;
    esac
    MODEL+=(--arch "$(untied "$arch")" --share-decoder-input-output-embed --source-context "$context")
}

parse_options "$TRAINING_OPTIONS" "$@"
((${#ARGUMENTS[@]} == 3)) || die "expected ROW DATA OUT; see --help"
use_profile
model_flags "${ARGUMENTS[0]}"
train_row "${ARGUMENTS[1]}" "${ARGUMENTS[2]}" "${MODEL[@]}" --weight-decay 0.0001 --clip-norm 0.1

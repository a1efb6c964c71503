#!/usr/bin/env bash
# shellcheck disable=SC2034,SC2153 # training.sh sets and reads some variables
# Trains one row of the thesis' tables 6.1 to 6.10 (and table 2.4's margin loss).
set -euo pipefail
PROFILES=("opensubtitles 3e-4 25000 16000 0.1 5000 0" "europarl 2e-4 25000 16000 0.1 5000 0"
    "wmt 2e-4 25000 16000 0.1 5000 0" "wmt-big 2e-4 25000 16000 0.1 5000 0")
: "${SENTENCE_LIMIT:=auto}" "${SENTENCE_MODEL:=auto}" "${KEPT:=1}"
source "$(dirname "${BASH_SOURCE[0]}")/../training.sh"

usage() {
    cat << END
Usage: train.sh ROW DATA OUT [OPTIONS] [-- OPTIONS OF fairseq-train]
ROW is one of these, with any of its parts:
  srcNtgtM_to_tgtK           concatenation, fairseq's own transformer: N previous source and M previous target sentences
                             on the source side, K on the target side; also written as the thesis' rows that differ
                             in evaluation alone: src1tgt1ref_to_tgt0, src1tgt1mt_to_tgt0, src1tgt0_to_tgt1_1st
  RNN-srcNtgtM_to_tgtK       the same with a GRU
  DE[+shared[+token]]        dual encoder: the encoders apart, all layers shared, shared with a token before the context
     [+fusion=NAME]          serial (default), parallel, flat or hierarchical
  CE[+gate|+gate=zhang]      context encoder; gate: on the residual connection after context attention, at the next
                             sub-layer (equation 4.3), or at its own
     [+layers=N]             of the context encoder (default 1)
     [+pretrain[+freeze]]    start from the sentence model, and keep what it has
  Voita[+pretrain][+margin]  context-aware Transformer; started from the sentence model; with the margin loss of Jean and
                             Cho (table 2.4)
  all but the first two: +switch (the encoders' inputs exchanged), +ref (the reference is the context)
  --sentence-limit N         training leaves out examples with an encoder input of more than N subwords, where
                             sentences are joined N for each (default: $SENTENCE_LIMIT: 55 for OpenSubtitles, else 80; 160:
                             the rows with len 160 in table 6.6, but not concatenation, whose len is of both sentences)
  --sentence-model RUN       +pretrain: a run of src0tgt0_to_tgt0 (default: $SENTENCE_MODEL: the one beside OUT)
END
    training_usage
}

# ROW -> the array MODEL
model_flags() {
    local name="$1" parts=() part selection=document concatenation='src([0-9])tgt([0-9])(ref|mt)?_to_tgt([0-9])(_1st)?'
    if [[ "$name" =~ ^(RNN-)?$concatenation$ ]]; then
        MODEL=(--task document_window --source-context "${BASH_REMATCH[2]}"
            --target-context-on-source "${BASH_REMATCH[3]}" --target-context "${BASH_REMATCH[5]}")
        if [[ -n "${BASH_REMATCH[1]}" ]]; then
            MODEL+=(--arch "context_gru_$ARCH_SIZE")
        else
            MODEL+=(--arch "$(untied transformer)" ${DIMENSIONS[@]+"${DIMENSIONS[@]}"})
        fi
        return
    fi
    IFS=+ read -r -a parts <<< "$name"
    MODEL=(--task multi_source --source-context 1 ${DIMENSIONS[@]+"${DIMENSIONS[@]}"} --arch)
    case "${parts[0]:-}" in
        DE) MODEL+=("dual_encoder_transformer_$ARCH_SIZE") ;;
        CE) MODEL+=("context_encoder_transformer_$ARCH_SIZE") ;;
        Voita) MODEL+=("gated_context_transformer_$ARCH_SIZE") ;;
        *) die "$name: no such row; see --help" ;;
    esac
    [[ "$name" != CE* || "$name" == *+gate* ]] || MODEL+=(--context-gate none)
    [[ "$name" != *+token* || "$name" == *+shared+token* ]] || die "$name: +token: expected +shared before it"
    [[ "$name" != *+freeze* || "$name" == *+pretrain+freeze* ]] || die "$name: +freeze: expected +pretrain before it"
    for part in "${parts[@]:1}"; do
        case "${parts[0]}+$part" in
            DE+shared) MODEL+=(--context-encoder shared) ;;
            DE+token) MODEL+=(--context-encoder shared-token) ;;
            DE+fusion=?*) MODEL+=(--context-fusion "${part#fusion=}") ;;
            CE+gate) MODEL+=(--context-gate thesis) ;;
            CE+gate=?*) MODEL+=(--context-gate "${part#gate=}") ;;
            CE+layers=?*) MODEL+=(--context-layers "${part#layers=}") ;;
            CE+pretrain | Voita+pretrain) MODEL+=(--sentence-checkpoint "$SENTENCE_MODEL/checkpoints/checkpoint_best.pt") ;;
            CE+freeze) MODEL+=(--train-context-only) ;;
            Voita+margin) CRITERION=context_margin ;;
            *+switch) selection=swapped ;;
            *+ref) selection=reference ;;
            *) die "$name: ${parts[0]} has no part +$part; see --help" ;;
        esac
    done
    MODEL+=(--context-selection "$selection")
}

parse_options "$TRAINING_OPTIONS sentence-limit sentence-model" "$@"
((${#ARGUMENTS[@]} == 3)) || die "expected ROW DATA OUT; see --help"
row="${ARGUMENTS[0]}" data="${ARGUMENTS[1]}" out="${ARGUMENTS[2]}"
# Learning rates as in the Marian scripts that the thesis refers to; most are those of PROFILES.
clip=(--clip-norm 5)
case "$PROFILE:$LR:$row" in
    small:*) clip=() ;;
    *:auto:RNN-*) LR=3e-4 clip+=(--warmup-init-lr 3e-4) ;; # no warm-up: constant, then falling
    europarl:auto:CE* | europarl:auto:Voita*) LR=1e-4 ;;
    europarl:auto:src0tgt0_to_tgt0) ;; # 2e-4, the only one of its kind
    europarl:auto:src* | europarl:auto:DE*) LR=3e-4 ;;
    *:auto:CE* | *:auto:Voita*+pretrain*) LR=2e-4 ;;
esac
use_profile
architecture_size
DIMENSIONS=()
[[ "$PROFILE" != wmt-big ]] || dimensions 6 1024 4096 16
[[ "$SENTENCE_MODEL" != auto ]] || SENTENCE_MODEL="$(dirname "$out")/src0tgt0_to_tgt0"
model_flags "$row"
[[ "$SENTENCE_LIMIT" != auto ]] || SENTENCE_LIMIT=$([[ "$PROFILE" == opensubtitles ]] && echo 55 || echo 80)
whole SENTENCE_LIMIT
train_row "$data" "$out" "${MODEL[@]}" --share-all-embeddings --max-sentence-tokens "$SENTENCE_LIMIT" ${clip[@]+"${clip[@]}"}

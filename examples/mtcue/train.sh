#!/usr/bin/env bash
# shellcheck disable=SC2034,SC2153 # training.sh sets and reads some variables
# Trains one row of MTCue's tables 4 and 6 (Vincent et al. 2023; dimensions: table 3, the rest: section 3.4, appendix B).
set -euo pipefail
PROFILES=("paper 3e-4 200000 4000 0.3 0 0")
: "${PATIENCE:=5}" "${ADAM_EPS:=1e-8}" "${STEP_TOKENS:=25000}" "${KEPT:=1}"
: "${CONTEXT_FEATURE_DROPOUT:=0.25}" "${CONTEXT_DROPOUT:=0}" "${STORE:=auto}" "${START_FROM:=auto}"
source "$(dirname "${BASH_SOURCE[0]}")/../training.sh"

usage() {
    cat << END
Usage: train.sh ROW DATA OUT [OPTIONS] [-- OPTIONS OF fairseq-train]
ROW is a row of the paper's table 4, MTCUE with any of the parts below:
  BASE, BASE-PM            the Transformer on single sentences; with a wider and deeper encoder
  TAGGING                  an embedding for each value of the metadata
     +hash                 as the authors' scripts have it: a random vector for each metadata value and each of 6 sentences
     +wide-decoder         of BASE-PM and TAGGING: 4,096 units in the decoder too, as in the scripts (and +hash)
  NOVOTNEY-CUE             context as one vector
  MTCUE                    metadata, the current and 5 previous sentences as vectors
     +no-context-encoder, +no-positions, +no-minilm, +no-metadata, +no-document, +random-context, +no-context (table 6)
     +sequential, +flat    instead of parallel attention (appendix C)
BASE and BASE-PM come first: the others start from them.
  --start-from RUN         whose best checkpoint training starts from, none: random parameters (default: $START_FROM: of the
                           runs beside OUT BASE, for TAGGING BASE-PM)
  --store DIR              context store (default: $STORE: DATA/contexts; +no-minilm, +hash: DATA/contexts-discrete;
                           NOVOTNEY-CUE: DATA/contexts-distilbert-base-cased, if it is there)
  --context-feature-dropout X  dropout of the embedded contexts' elements (default: $CONTEXT_FEATURE_DROPOUT)
  --context-dropout X      probability of leaving a vector or tag out (default: $CONTEXT_DROPOUT)
END
    training_usage
}

# wider_encoder: table 3's encoder of BASE-PM and TAGGING, for this profile, added to the array MODEL. The decoder is
# table 3's, too, or with +wide-decoder as wide as the encoder.
wider_encoder() {
    local layers=10 inner=4096 decoder_inner=2048
    [[ "$PROFILE" != small ]] || layers=4 inner=512 decoder_inner=256
    [[ -z "$WIDE_DECODER" ]] || decoder_inner="$inner"
    MODEL+=(--encoder-layers "$layers" --encoder-ffn-embed-dim "$inner" --decoder-ffn-embed-dim "$decoder_inner")
}

# ROW DATA -> the array MODEL; START, the row to start from; OWN_STORE, if it is not DATA/contexts
model_flags() {
    local name="$1" data="$2" parts=() part
    IFS=+ read -r -a parts <<< "$name"
    START=BASE OWN_STORE="" WIDE_DECODER=""
    [[ "+$name+" != *+wide-decoder+* && "+$name+" != *+hash+* ]] || WIDE_DECODER=+wide-decoder
    MODEL=(--task metadata_context --context-feature-dropout "$CONTEXT_FEATURE_DROPOUT"
        --context-dropout "$CONTEXT_DROPOUT" --arch)
    case "${parts[0]:-}" in
        BASE | BASE-PM)
            START=none
            MODEL=(--task document_window --arch transformer ${DIMENSIONS[@]+"${DIMENSIONS[@]}"})
            [[ "${parts[0]}" == BASE ]] || wider_encoder
            ;;
        TAGGING)
            START="BASE-PM$WIDE_DECODER"
            if [[ "+$name+" == *+hash+* ]]; then
                OWN_STORE="$data/contexts-discrete"
                MODEL+=("mtcue_transformer_$ARCH_SIZE" --source-context 5 --context-fusion flat --context-layers 0
                    --context-input small-init)
            else
                MODEL+=("tagging_transformer_$ARCH_SIZE" --current-vector no)
            fi
            wider_encoder
            ;;
        NOVOTNEY-CUE)
            MODEL+=("cue_transformer_$ARCH_SIZE" --source-context 5)
            [[ ! -d "$data/contexts-distilbert-base-cased" ]] || OWN_STORE="$data/contexts-distilbert-base-cased"
            ;;
        MTCUE) MODEL+=("mtcue_transformer_$ARCH_SIZE" --source-context 5) ;;
        *) die "$name: no such row; see --help" ;;
    esac
    for part in "${parts[@]:1}"; do
        case "${parts[0]}+$part" in
            BASE-PM+wide-decoder | TAGGING+wide-decoder | TAGGING+hash) ;; # above
            MTCUE+no-context-encoder) MODEL+=(--context-layers 0) ;;
            MTCUE+no-positions) MODEL+=(--context-positions no) ;;
            MTCUE+no-minilm) OWN_STORE="$data/contexts-discrete" ;;
            MTCUE+no-metadata) MODEL+=(--metadata-fields none) ;;
            MTCUE+no-document) MODEL+=(--source-context 0 --current-vector no) ;;
            MTCUE+random-context) MODEL+=(--context-selection random) ;;
            MTCUE+no-context) MODEL+=(--context-selection absent) ;;
            MTCUE+sequential) MODEL+=(--context-fusion serial) ;;
            MTCUE+flat) MODEL+=(--context-fusion flat) ;;
            *) die "$name: ${parts[0]} has no part +$part; see --help" ;;
        esac
    done
}

parse_options "$TRAINING_OPTIONS start-from store context-feature-dropout context-dropout" "$@"
((${#ARGUMENTS[@]} == 3)) || die "expected ROW DATA OUT; see --help"
row="${ARGUMENTS[0]}" data="${ARGUMENTS[1]}" out="${ARGUMENTS[2]}"
use_profile
architecture_size
DIMENSIONS=()
[[ "$PROFILE" != small ]] || dimensions 2 128 256 4
model_flags "$row" "$data"
[[ "$STORE" == auto ]] || OWN_STORE="$STORE"
[[ -z "$OWN_STORE" || "$row" == BASE* ]] || MODEL+=(--context-store "$OWN_STORE")
if [[ "$START" != none ]]; then
    [[ "$START_FROM" != auto ]] || START_FROM="$(dirname "$out")/$START"
    [[ "$START_FROM" == none ]] || MODEL+=(--sentence-checkpoint "$START_FROM/checkpoints/checkpoint_best.pt")
fi
train_row "$data" "$out" "${MODEL[@]}" --share-all-embeddings --weight-decay 0.0001

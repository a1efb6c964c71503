#!/usr/bin/env bash
# Evaluates a trained system as the focused-concatenation paper does (appendix A): 5 checkpoints averaged, beam 4,
# length penalty 0.6. The whole window is decoded, as in the paper, and once more with a forced prefix. The authors'
# scripts score a candidate with fairseq-generate --score-reference: the mean over the tokens of its window.
set -euo pipefail
: "${AVERAGE:=5}" "${BEAM:=4}" "${LENPEN:=0.6}" "${DECODING:=window prefix}" "${CONVENTION:=mean-window}"
source "$(dirname "${BASH_SOURCE[0]}")/../evaluate.sh"

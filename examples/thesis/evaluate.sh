#!/usr/bin/env bash
# Evaluates a trained row of the thesis (section 6.3.8): the best checkpoint, beam 6, n = 0.6, the whole window decoded.
# disambig: scores are "normalized by target sentence length" (chapter 5), in its scripts the tokens and </s>.
set -euo pipefail
: "${BEAM:=6}" "${LENPEN:=0.6}" "${DECODING:=window}" "${CONVENTION:=mean-current}"
source "$(dirname "${BASH_SOURCE[0]}")/../evaluate.sh"

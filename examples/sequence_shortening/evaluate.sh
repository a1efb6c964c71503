#!/usr/bin/env bash
# Evaluates a trained row as the sequence-shortening paper does: the best checkpoint, beam 5 (table 4). The code that it
# builds on (Fernandes et al. 2021) scores a candidate by the mean over its tokens.
set -euo pipefail
: "${BEAM:=5}" "${LENPEN:=1}" "${CONVENTION:=mean-window}"
source "$(dirname "${BASH_SOURCE[0]}")/../evaluate.sh"

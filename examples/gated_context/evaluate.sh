#!/usr/bin/env bash
# Evaluates a trained row of Voita et al. 2018: the best checkpoint, the search of Vaswani et al. 2017. Random context is
# "the same test set with shuffled context sentences" (section 5.1).
set -euo pipefail
: "${BEAM:=4}" "${LENPEN:=0.6}" "${RANDOM_CONTEXT:=shuffled}"
source "$(dirname "${BASH_SOURCE[0]}")/../evaluate.sh"

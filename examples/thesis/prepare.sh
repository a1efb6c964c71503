#!/usr/bin/env bash
# Text to the data folder of the thesis (section 3.1.3): BPE with 30,000 merges, one vocabulary.
set -euo pipefail
: "${TARGET_LANG:=fr}" "${PAPER_VOCAB_SIZE:=30000}"
source "$(dirname "${BASH_SOURCE[0]}")/../prepare.sh"

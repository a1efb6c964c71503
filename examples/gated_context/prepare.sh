#!/usr/bin/env bash
# Text to the data folder of Voita et al. 2018 (section 4.1): about 32,000 subwords for each language.
set -euo pipefail
: "${TARGET_LANG:=ru}" "${PAPER_VOCAB_SIZE:=32000}" "${DICTIONARIES:=separate}"
source "$(dirname "${BASH_SOURCE[0]}")/../prepare.sh"

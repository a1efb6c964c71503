#!/usr/bin/env bash
# What this machine's GPU makes of every architecture: half precision, several processes, speed, memory, waits.
#   bash scripts/gpu_check.sh [FILE] [OPTIONS]
# FILE: the JSON file that is written (default: gpu.json), with the machine's name and nothing else of it; please send
#       it. OPTIONS: of python -m scripts.benchmark.gpu, such as --size iwslt for a small GPU
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
source scripts/environment.sh

file=gpu.json
[[ $# -eq 0 || $1 == --* ]] || { file="$1" && shift; }
python -W ignore -m scripts.benchmark.gpu --json "$file" "$@"
python -m pytest -q -m gpu

#!/usr/bin/env bash
# Real text, several systems and seeds: trains and evaluates what has no result in docs/results/runs/ yet.
#   run.sh [ROW | ROW.SEED]...    the runs of these rows (evidence/systems.py), in this order; without, all systems'.
#                                 A finished run whose checkpoint is here gets what its result lacks
#   run.sh search                 candidates for the size of the sentence-level model
# Killed at any moment and started again, it goes on from the last checkpoint; several at once share the runs.
# From the environment:
#   DATA              the folder of en-fr-subtitles/{train,valid}.{en,fr,docids}, contrastive/en-fr-pronouns/ and
#                     en-{de,fr}-help/{train,valid,test}.{en,de|fr,docids} (default: ../shared/data beside the checkout)
#   EVIDENCE_DIR      text, data folders, checkpoints, logs, translations (default: out/evidence in the checkout)
#   EVIDENCE_RESULTS  ROW.SEED.json of every finished run (default: docs/results/runs in the checkout; rows of another
#                     series belong into its folder there: docs/results/protocol.md)
#   SMOKE=1           a few updates of every row on a few lines, in EVIDENCE_DIR/smoke; nothing goes to docs/
# Rows +tags need the extra "linguistics".
set -euo pipefail
case "${1:-}" in
    -h | --help) echo "usage: run.sh [ROW | ROW.SEED | search]..." &&
        sed -n '2,/^set/{/^set/d; s/^# \{0,1\}//; p}' "${BASH_SOURCE[0]}" && exit 0 ;;
esac
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)"
source "$here/../../scripts/environment.sh"
# glibc gives large tensors back to the system after use, and must ask for them again at every step.
export MALLOC_MMAP_THRESHOLD_="${MALLOC_MMAP_THRESHOLD_:-33554432}"
export MALLOC_TRIM_THRESHOLD_="${MALLOC_TRIM_THRESHOLD_:-1073741824}"
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}" PYTHONPATH="$here/..${PYTHONPATH:+:$PYTHONPATH}"
exec python -m evidence "$@"

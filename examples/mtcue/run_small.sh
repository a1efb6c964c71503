#!/usr/bin/env bash
# MTCue's recipe on two CPU cores: the demo corpus with its metadata, then real text with its previous sentences.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)"
root="$(cd "$here/../.." && pwd -P)"
: "${SMOKE:=}" "${SUBTITLES:=$root/../shared/data/en-fr-subtitles}"
: "${FORMALITY=$root/../shared/data/formality/cocoa-mt/train/en-fr}"
if [[ -z "$SMOKE" ]]; then
    : "${DEMO_SYSTEMS=BASE BASE-PM TAGGING MTCUE MTCUE+no-minilm}" "${SUBTITLES_SYSTEMS=BASE MTCUE+no-context MTCUE}"
    : "${CONTEXTS:=trained random empty absent}"
else
    : "${DEMO_SYSTEMS=BASE MTCUE}" "${SUBTITLES_SYSTEMS=}" "${CONTEXTS:=trained absent}"
fi

usage() {
    cat << END
Usage: run_small.sh [OUT]     (default OUT: out/mtcue_small in the checkout)
../run_small.sh twice, in OUT/demo and OUT/subtitles (see there), and the formality of MTCUE on the latter. From the
environment:
  DEMO_SYSTEMS       rows of train.sh on the demo corpus (default: $DEMO_SYSTEMS)
  SUBTITLES_SYSTEMS  rows on SUBTITLES (default: $SUBTITLES_SYSTEMS)
  SUBTITLES, SUITES  as there, for OUT/subtitles
  FORMALITY          folder of CoCoA-MT; empty: none (default: $FORMALITY)
  SMOKE=1            a few updates of BASE and MTCUE on the demo corpus, in about 4 minutes
END
}
case "$#:${1:-}" in
    1:-h | 1:--help) usage && exit 0 ;;
    0:* | 1:[!-]*) ;;
    *) usage >&2 && exit 2 ;;
esac
out="${1:-$root/out/mtcue_small${SMOKE:+_smoke}}"
export PAPER=mtcue SUBTITLES CONTEXTS CTXMT_EXTRAS="${CTXMT_EXTRAS:-embed,plots,test}"

if [[ -n "$DEMO_SYSTEMS" ]]; then
    env -u SUITES CORPUS=demo SYSTEMS="$DEMO_SYSTEMS" bash "$here/../run_small.sh" "$out/demo"
fi
[[ -n "$SUBTITLES_SYSTEMS" ]] || exit 0
CORPUS=subtitles ENCODERS=minilm SYSTEMS="$SUBTITLES_SYSTEMS" bash "$here/../run_small.sh" "$out/subtitles"

model="$out/subtitles/MTCUE/checkpoints/checkpoint_best.pt"
if [[ -d "$FORMALITY" && -f "$model" ]]; then
    source "$root/scripts/environment.sh"
    printf '\n== MTCUE: formality by prompts\n'
    ctxmt control formality "$model" --cpu --json "$out/subtitles/MTCUE/evaluation/formality.json" \
        --source "$FORMALITY"/*.en-fr.en --formal "$FORMALITY"/*.formal.annotated.fr \
        --informal "$FORMALITY"/*.informal.annotated.fr
fi

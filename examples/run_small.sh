#!/usr/bin/env bash
# A paper's recipe on two CPU cores, on real text (82,512 English-French subtitle pairs, a contrastive set of pronouns)
# or the demo corpus. A paper's run_small.sh names its rows and calls this.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd -P)"
root="$(cd "$here/.." && pwd -P)"
: "${PAPER:=focused_concat}" "${CORPUS:=subtitles}" "${SUBTITLES:=$root/../shared/data/en-fr-subtitles}" "${SMOKE:=}"
: "${SYSTEMS:=${SMOKE:+${SMOKE_SYSTEM:-}}}" "${SYSTEMS:=${SMALL_SYSTEMS:-}}"
[[ "$CORPUS" == demo ]] || : "${SUITES=$root/../shared/data/contrastive/en-fr-pronouns}"

usage() {
    cat << END
Usage: run_small.sh [OUT]     (default OUT: out/${PAPER}_small in the checkout)
Preprocesses, trains (interrupted once and resumed), validates, translates, scores, and prints a table. From the environment:
  SUBTITLES   folder with train.{en,fr,docids} and valid.{en,fr,docids} (default: $SUBTITLES)
  CORPUS      subtitles, or demo: the demo corpus, with metadata (default: $CORPUS)
  SUITES      contrastive sets, separated by colons; never trained on (default: ${SUITES-those that metadata answers})
  SYSTEMS     rows of train.sh (default: $SYSTEMS)
  SMOKE=1     a few updates of one row on a part of the text, in about 3 minutes: does everything run?
About 10 minutes per row; a finished one is not trained again.
END
}
case "$#:${1:-}" in
    1:-h | 1:--help) usage && exit 0 ;;
    0:* | 1:[!-]*) ;;
    *) usage >&2 && exit 2 ;;
esac
[[ -n "$SYSTEMS" ]] || { echo "error: SYSTEMS: expected rows of train.sh; or start a paper's own run_small.sh" >&2; exit 2; }
paper="$here/$PAPER"
out="${1:-$root/out/${PAPER}_small${SMOKE:+_smoke}}"
mkdir -p "$out/text"
out="$(cd "$out" && pwd -P)"
source "$root/scripts/environment.sh"
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-2}"

updates=800 every=200 pairs=all held_out=all documents=8000 held_out_documents=200
[[ -z "$SMOKE" ]] || updates=40 every=10 pairs=6000 held_out=300 documents=1000 held_out_documents=20

step() { printf '\n== %s\n' "$*"; }

# text SPLIT LINES: the first LINES of SUBTITLES/SPLIT, up to the end of a document, as OUT/text/SPLIT.
text() {
    local lines="$2" file
    if [[ "$lines" == all ]]; then
        lines="$(wc -l < "$SUBTITLES/$1.docids")"
    else
        lines="$(awk -v n="$lines" 'NR > n && $0 != last { exit } { last = $0; ++k } END { print k }' \
            "$SUBTITLES/$1.docids")"
    fi
    for file in en fr docids; do
        head -n "$lines" "$SUBTITLES/$1.$file" > "$out/text/$1.$file"
    done
}

# Every second document of the held-out text tests, the others validate.
halve() {
    local file
    for file in en fr docids; do
        paste -d '\n' "$out/text/valid.docids" "$out/text/valid.$file" |
            awk -v valid="$out/text/dev.$file" -v test="$out/text/test.$file" '
                NR % 2 { if ($0 != id) document++; id = $0; next }
                { print > (document % 2 ? valid : test) }'
    done
}

step "Text and data folder"
case "$CORPUS" in
    subtitles) valid=dev vocabulary=() ;;
    demo)
        valid=valid vocabulary=(--vocab-size 1000)
        sets="$out/text/contrastive"
        : "${SUITES=$sets/formality.jsonl:$sets/formality-unseen.jsonl:$sets/formality-zero-shot.jsonl:$sets/speaker-gender.jsonl:$sets/addressee-gender.jsonl}"
        ;;
    *) echo "error: CORPUS=$CORPUS: expected subtitles or demo" >&2; exit 2 ;;
esac
if [[ ! -f "$out/data/prepared" ]]; then
    if [[ "$CORPUS" == demo ]]; then
        [[ -d "$out/text/contrastive" ]] ||
            ctxmt demo-corpus "$out/text" --documents "$documents" --evaluation-documents "$held_out_documents"
    else
        [[ -f "$SUBTITLES/train.docids" ]] || { echo "error: SUBTITLES=$SUBTITLES: expected train.docids" >&2; exit 2; }
        text train "$pairs"
        text valid "$held_out"
        halve
    fi
    bash "$paper/prepare.sh" "$out/text/train" "$out/text/$valid" "$out/data" --profile small --target-lang fr --workers 2 \
        ${vocabulary[@]+"${vocabulary[@]}"} -- --overwrite
    touch "$out/data/prepared"
fi

IFS=: read -r -a suites <<< "$SUITES"
columns=()
for system in $SYSTEMS; do
    run="$out/$system"
    train=(bash "$paper/train.sh" "$system" "$out/data" "$run" --profile small --gpus 0 --validate-every "$every")
    if [[ ! -f "$run/finished" ]]; then
        step "$system: training, first half"
        "${train[@]}" --max-update $((updates / 2))
        step "$system: training, resumed"
        "${train[@]}" --max-update "$updates"
        grep -q "Loaded checkpoint.*checkpoint_last.pt" "$run/train.log" ||
            { echo "error: $run/train.log: expected a resumed training" >&2; exit 1; }
        touch "$run/finished"
    fi
    step "$system: validation"
    store=()  # of MTCue's rows with discrete vectors
    [[ "$system" != *+no-minilm* && "$system" != *+hash* ]] || store=(--context-store "$out/data/contexts-discrete")
    fairseq-validate "$out/data" --user-dir "$(ctxmt user-dir)" --cpu --max-tokens 4000 ${store[@]+"${store[@]}"} \
        --path "$run/checkpoints/checkpoint_best.pt" --log-format simple
    step "$system: translation and contrastive sets"
    bash "$paper/evaluate.sh" "$out/data" "$run" "$out/text/test" ${suites[@]+"${suites[@]}"} --device cpu \
        --max-len-a 1.5 --max-len-b 20
    columns+=("$system=$run/evaluation")
done

step "Results"
python "$here/results.py" "${columns[@]}" | tee "$out/results.txt"

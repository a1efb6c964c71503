#!/usr/bin/env bash
# Text with document ids to the data folder of the recipes. A paper's prepare.sh sets its own defaults.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/recipe.sh"

: "${PROFILE:=paper}" "${SOURCE_LANG:=en}" "${TARGET_LANG:=fr}" "${WORKERS:=4}" "${SPM_TYPE:=bpe}"
: "${PAPER_VOCAB_SIZE:=32000}" "${VOCAB_SIZE:=auto}" "${DICTIONARIES:=joint}" "${ENCODERS:=}" "${FIELDS:=all}"
: "${LOWERCASE:=no}"

usage() {
    cat << END
Usage: prepare.sh TRAIN VALID DATA [OPTIONS] [-- OPTIONS OF ctxmt preprocess]
TRAIN and VALID are prefixes: TRAIN.$SOURCE_LANG, TRAIN.$TARGET_LANG (one sentence per line), TRAIN.docids (one document id per line).
The folder DATA is made.
  --source-lang L, --target-lang L  languages (default: $SOURCE_LANG, $TARGET_LANG)
  --profile paper|small             size of a vocabulary: $PAPER_VOCAB_SIZE or 8000 (default: $PROFILE)
  --vocab-size N                    another size (default: $VOCAB_SIZE)
  --dictionaries joint|separate     one vocabulary for both languages, or one for each (default: $DICTIONARIES)
  --spm-type bpe|unigram            subwords (default: $SPM_TYPE)
  --lowercase yes|no                lower-case the text, and with it all that the models read (default: $LOWERCASE)
  --workers N                       processes (default: $WORKERS)
  --encoders "NAME..."              sentence encoders, a context store of each; the first is DATA/contexts, another
                                    DATA/contexts-NAME; cls:NAME, mean:NAME choose the pooling (default: "$ENCODERS")
  --fields A,B                      metadata in the stores (default: $FIELDS)
END
}

parse_options "source-lang target-lang profile vocab-size dictionaries spm-type lowercase workers encoders fields" "$@"
((${#ARGUMENTS[@]} == 3)) || die "expected TRAIN VALID DATA; see --help"
text=(--train "${ARGUMENTS[0]}" --valid "${ARGUMENTS[1]}") data="${ARGUMENTS[2]}"
case "$PROFILE" in
    paper) size="$PAPER_VOCAB_SIZE" ;;
    small) size=8000 ;;
    *) die "--profile $PROFILE: expected paper or small" ;;
esac
[[ "$DICTIONARIES" == joint || "$DICTIONARIES" == separate ]] ||
    die "--dictionaries $DICTIONARIES: expected joint or separate"
[[ "$LOWERCASE" == yes || "$LOWERCASE" == no ]] || die "--lowercase $LOWERCASE: expected yes or no"
[[ "$LOWERCASE" == no ]] || EXTRA=(--lowercase ${EXTRA[@]+"${EXTRA[@]}"})
[[ "$VOCAB_SIZE" != auto ]] || VOCAB_SIZE="$size"
whole VOCAB_SIZE WORKERS
commands ctxmt
ctxmt preprocess --source-lang "$SOURCE_LANG" --target-lang "$TARGET_LANG" "--$DICTIONARIES" \
    --vocab-size "$VOCAB_SIZE" --spm-type "$SPM_TYPE" --workers "$WORKERS" "${text[@]}" --out "$data" \
    ${EXTRA[@]+"${EXTRA[@]}"}
store=contexts
for encoder in $ENCODERS; do
    ctxmt embed "$data" "${text[@]}" --encoder "$encoder" --fields "$FIELDS" \
        --out "$data/${store:-contexts-$(basename "${encoder#*:}")}"
    store=""
done

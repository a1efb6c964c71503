#!/usr/bin/env bash
# Text with document ids to the data folder of the recipes.
set -euo pipefail
source "$(dirname "${BASH_SOURCE[0]}")/../recipe.sh"

: "${PROFILE:=paper}" "${SOURCE_LANG:=en}" "${TARGET_LANG:=ru}" "${WORKERS:=4}" "${VOCAB_SIZE:=auto}" "${SPM_TYPE:=bpe}"

usage() {
    cat << END
Usage: prepare.sh TRAIN VALID DATA [OPTIONS] [-- OPTIONS OF ctxmt preprocess]
TRAIN and VALID are prefixes: TRAIN.$SOURCE_LANG, TRAIN.$TARGET_LANG (one sentence per line), TRAIN.docids (one document id per line).
The folder DATA is made, with one vocabulary for both languages.
  --source-lang L, --target-lang L  languages (default: $SOURCE_LANG, $TARGET_LANG)
  --profile paper|small             size of the vocabulary: 32000 or 8000 (default: $PROFILE)
  --vocab-size N                    another size (default: $VOCAB_SIZE)
  --spm-type bpe|unigram            subwords (default: $SPM_TYPE)
  --workers N                       processes (default: $WORKERS)
END
}

parse_options "source-lang target-lang profile vocab-size spm-type workers" "$@"
((${#ARGUMENTS[@]} == 3)) || die "expected TRAIN VALID DATA; see --help"
case "$PROFILE" in
    paper) size=32000 ;;
    small) size=8000 ;;
    *) die "--profile $PROFILE: expected paper or small" ;;
esac
[[ "$VOCAB_SIZE" != auto ]] || VOCAB_SIZE="$size"
whole VOCAB_SIZE WORKERS
commands ctxmt
ctxmt preprocess --source-lang "$SOURCE_LANG" --target-lang "$TARGET_LANG" --joint --vocab-size "$VOCAB_SIZE" \
    --spm-type "$SPM_TYPE" --workers "$WORKERS" --train "${ARGUMENTS[0]}" --valid "${ARGUMENTS[1]}" \
    --out "${ARGUMENTS[2]}" ${EXTRA[@]+"${EXTRA[@]}"}

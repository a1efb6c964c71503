# shellcheck shell=bash disable=SC2034 # many variables are set for the scripts that source this
# Sourced by the recipes: their options and checks.
# Every option --some-name VALUE can also come from the environment, as SOME_NAME=VALUE.

die() {
    echo "error: $*" >&2
    exit 2
}

# parse_options "lr max-tokens ..." "$@": --lr VALUE or --lr=VALUE sets LR. What is no option goes to the array
# ARGUMENTS, what follows a lone -- to EXTRA. --help calls usage, which shows the defaults.
parse_options() {
    local known=" $1 " name value
    shift
    ARGUMENTS=() EXTRA=()
    while (($#)); do
        case "$1" in
            -h | --help) usage && exit 0 ;;
            --) shift && EXTRA=("$@") && return ;;
            --*=*) name="${1%%=*}" value="${1#*=}" ;;
            --*)
                (($# > 1)) || die "$1: expected a value"
                name="$1" value="$2"
                shift
                ;;
            *) ARGUMENTS+=("$1") && shift && continue ;;
        esac
        shift
        [[ "$known" == *" ${name#--} "* ]] || die "$name: no such option; see --help"
        name="$(tr 'a-z-' 'A-Z_' <<< "${name#--}")"
        printf -v "$name" %s "$value"
    done
}

# whole NAME...: stop unless these variables hold whole numbers.
whole() {
    local name
    for name; do
        [[ "${!name}" =~ ^[0-9]+$ ]] || die "$name=${!name}: expected a whole number"
    done
}

# commands NAME...: stop unless they are installed.
commands() {
    local name
    for name; do
        type -P "$name" > /dev/null || die "$name not found: activate the environment that has ctxmt_fairseq (README)"
    done
}

# read_languages DATA: SOURCE_LANG and TARGET_LANG of a data folder.
read_languages() {
    [[ -f "$1/ctxmt.json" ]] || die "$1/ctxmt.json: no such file; expected what ctxmt preprocess writes"
    local languages
    languages="$(python -c 'import json, sys
folder = json.load(open(sys.argv[1], encoding="utf-8"))
print(folder["source_lang"], folder["target_lang"])' "$1/ctxmt.json")"
    read -r SOURCE_LANG TARGET_LANG <<< "$languages"
}

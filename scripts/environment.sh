# Sourced by the other scripts: afterwards `python`, `ctxmt` and fairseq's commands are the ones to use.
# An active environment that holds this checkout's package and all it needs is used as it is; otherwise .venv
# in the checkout is made once, and brought up to date when pyproject.toml or constraints.txt change.
#   PYTHON=python3.11   the interpreter to make .venv with (3.10 to 3.12; default python3); for another one later,
#                       remove .venv
#   CTXMT_EXTRAS=all    the extras to install (empty: none; default align,comet,corpora,ctranslate2,embed,files,filter,hf,plots,test)

ctxmt_environment() {
    local root python extras check stamp wanted
    root="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd -P)"
    python="${PYTHON:-python3}"
    extras="${CTXMT_EXTRAS-align,comet,corpora,ctranslate2,embed,files,filter,hf,plots,test}"
    check="$root/scripts/environment_is_complete.py"
    if python "$check" "$root" "$extras" 2>/dev/null; then
        return 0
    fi
    if ! "$python" -c 'import sys; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 12))' 2>/dev/null; then
        echo "error: Python 3.10 to 3.12 is needed; $python is $("$python" --version 2>&1 | tail -n 1)." \
             "Set PYTHON, for example PYTHON=python3.11" >&2
        return 1
    fi

    # An environment that exists is never cleared: somebody may be using it.
    # venv makes bin/python some seconds before bin/pip.
    [[ -x "$root/.venv/bin/pip" ]] || "$python" -m venv "$root/.venv" || return 1
    stamp="$root/.venv/ctxmt_installed"
    wanted="$root $(cat "$root/pyproject.toml" "$root/constraints.txt" | cksum)"
    if [[ -f "$stamp" && "$(cat "$stamp")" != "$root "* ]]; then
        echo "error: $root/.venv was made in another folder; remove it, and it is made anew" >&2
        return 1
    fi
    [[ "$(cat "$stamp" 2>/dev/null)" == "$wanted" ]] || rm -f "$stamp"
    if [[ ! -f "$stamp" ]] || ! "$root/.venv/bin/python" "$check" "$root" "$extras" 2>/dev/null; then
        echo "installing ctxmt_fairseq[$extras] into $root/.venv (about 4 minutes the first time)" >&2
        rm -f "$stamp"
        # From the checkout and by a relative name: pip splits the variables' values at spaces.
        (
            cd "$root" &&
            PIP_CONSTRAINT=constraints.txt PIP_BUILD_CONSTRAINT=constraints.txt \
                .venv/bin/python -m pip install -e ".[$extras]"
        ) || return 1
        echo "$wanted" > "$stamp" # last: an interrupted installation has no stamp and is made again
    fi
    export VIRTUAL_ENV="$root/.venv" PATH="$root/.venv/bin:$PATH"
    unset PYTHONHOME
}

ctxmt_environment

# SPDX-License-Identifier: MIT
# Bash completion for benchctl: verbs, their options (asked of --help, so that they never drift), files.
_benchctl() {
    local word=${COMP_WORDS[COMP_CWORD]} verb=${COMP_WORDS[1]:-}
    COMPREPLY=()
    if [ "$COMP_CWORD" = 1 ]; then
        mapfile -t COMPREPLY < <(compgen -W "$("${COMP_WORDS[0]}" --help 2>/dev/null | awk '/^  [a-z]/{print $1}') --help --version" -- "$word")
        return
    fi
    if [[ $word = -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$("${COMP_WORDS[0]}" "$verb" --help 2>/dev/null | grep -oE -- '--[a-z-]+' | sort -u)" -- "$word")
        return
    fi
    case $verb:${COMP_WORDS[2]:-} in
        bundle:"$word") mapfile -t COMPREPLY < <(compgen -W 'verify list show extract create' -- "$word") ;;
        adapter:"$word") mapfile -t COMPREPLY < <(compgen -W 'list show parse' -- "$word") ;;
        *) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    esac
    compopt -o filenames 2>/dev/null || true
}
complete -F _benchctl benchctl

# Completion of berth for bash. Words and options come from `berth help`, so they are always those of the installed program.

_berth() {
    local current=${COMP_WORDS[COMP_CWORD]}
    if ((COMP_CWORD == 1)); then
        mapfile -t COMPREPLY < <(compgen -W "$(berth help 2>/dev/null | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')" -- "$current")
    elif [[ ${COMP_WORDS[1]} == help ]]; then
        COMPREPLY=()
        ((COMP_CWORD > 2)) || mapfile -t COMPREPLY < <(compgen -W "$(berth help 2>/dev/null | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p')" -- "$current")
    elif [[ $current == -* ]]; then
        mapfile -t COMPREPLY < <(compgen -W "$(berth help "${COMP_WORDS[1]}" 2>/dev/null | sed -n 's/^  \(-[^ ,]*\)\(, \(--[^ ]*\)\)\{0,1\}.*/\1 \3/p')" -- "$current")
    else
        compopt -o default
        COMPREPLY=()
    fi
}
complete -F _berth berth

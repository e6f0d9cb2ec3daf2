#compdef berth
# Completion of berth for zsh. Words and options come from `berth help`, so they are always those of the installed program.

local -a found
if ((CURRENT == 2)) || [[ $words[2] == help ]]; then
    ((CURRENT <= 3)) || return 1
    found=(${(f)"$(berth help 2>/dev/null | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\)  *\(.*\)/\1:\2/p')"})
    _describe command found
elif [[ $words[CURRENT] == -* ]]; then
    found=(${=$(berth help $words[2] 2>/dev/null | sed -n 's/^  \(-[^ ,]*\)\(, \(--[^ ]*\)\)\{0,1\}.*/\1 \3/p')})
    compadd -- $found
else
    _files
fi

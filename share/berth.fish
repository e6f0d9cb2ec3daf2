# Completion of berth for fish. Words and options come from `berth help`, so they are always those of the installed program.

function __berth_words
    berth help 2>/dev/null | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\)  *\(.*\)/\1\t\2/p'
end

function __berth_options
    set -l words (commandline -opc)
    berth help $words[2] 2>/dev/null | sed -n 's/^  \(-[^ ,]*\)\(, \(--[^ ]*\)\)\{0,1\}.*/\1 \3/p' | string split -n ' '
end

complete -c berth -n 'test (count (commandline -opc)) = 1' -f -a '(__berth_words)'
complete -c berth -n 'string match -q "help" -- (commandline -opc)[2]' -f -a '(__berth_words)'
complete -c berth -n 'string match -q -- "-*" (commandline -ct); and test (count (commandline -opc)) -gt 1' -f -a '(__berth_options)'

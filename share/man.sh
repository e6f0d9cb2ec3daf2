#!/bin/sh
# man.sh PROGRAM: prints the manual page of `berth`, made of what its `help` says, so that the two never differ.
set -eu
berth=$1

# Help is laid out by hand and stays as it is.
verbatim() { sed -e 's/\\/\\e/g' -e "s/^\\([.']\\)/\\\\\\&\\1/" -e 's/-/\\-/g'; }

printf '.TH BERTH 1 "" "%s" "User Commands"\n' "$("$berth" version)"
printf '.SH NAME\nberth \\- runs commands in places where work can be done\n'
printf '.SH SYNOPSIS\n.B berth\n.I command\n.RI [ argument ...]\n'
printf '.SH DESCRIPTION\n.nf\n'
"$berth" help | sed '1,2d' | verbatim
printf '.fi\n'
"$berth" help | sed -n '/^Commands:/,/^$/s/^  \([a-z]*\) .*/\1/p' | while read -r word; do
    case $word in help | version) continue ;; esac
    printf '.SH "BERTH %s"\n.nf\n' "$(printf %s "$word" | tr '[:lower:]' '[:upper:]')"
    "$berth" help "$word" | verbatim
    printf '.fi\n'
done

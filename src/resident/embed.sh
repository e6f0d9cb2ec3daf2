#!/bin/sh
# embed.sh IMAGE: an assembler file that carries the image, as berth_resident_begin and berth_resident_end. Its sum stands in it, so that
# another image is another file: a build would take the same text for no change.
set -eu
cat <<EOT
/* $(cksum <"$1") */
    .section .rodata.berth_resident, "a"
    .balign 16
    .global berth_resident_begin
    .global berth_resident_end
berth_resident_begin:
    .incbin "$1"
berth_resident_end:
    .byte 0
#if defined(__linux__)
    .section .note.GNU-stack, "", %progbits
#endif
EOT

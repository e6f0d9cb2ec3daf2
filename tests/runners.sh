# Read by ./dev: runs the test programs that a build lists in tests/runners, some at once, and adds up what they count.

# bounded SECONDS COMMAND...: this shell becomes the command.
bounded() {
    if have timeout; then exec timeout -k 10 "$@"; fi
    shift
    exec "$@"
}

# totals FILE STATUS: "passed failed skipped" of one runner. The test programs print doctest's totals; a line
# `SKIPPED: case: reason` takes one off the passed. No totals, or a bad status with no failure, is one failure.
totals() {
    awk -v status="$2" '
        { gsub(/\033\[[0-9;]*m/, "") }
        /^\[doctest\] test cases:/ {
            sub(/^\[doctest\] test cases:/, ""); split($0, part, "|")
            passed += part[2]; failed += part[3]; skipped += part[4]; seen = 1
        }
        /^SKIPPED: / { noted++ }
        END {
            if (noted > passed) noted = passed
            if (failed == 0 && (status != 0 || !seen)) failed = 1
            print passed - noted, failed + 0, skipped + noted
        }' "$1"
}

# run_one DIR SECONDS NAME COMMAND...: what is to be said of it goes to $turns/NAME, with its counts in NAME.counts.
run_one() {
    dir=$1 limit=$2 name=$3; shift 3
    out=$dir/$name.out
    began=$(date +%s) status=0
    # In the background, so that this shell hears of a signal meanwhile; timeout(1) gives it back SIGINT.
    bounded "$limit" "$@" >"$out" 2>&1 </dev/null &
    running=$!
    wait "$running" || status=$?
    running=
    # shellcheck disable=SC2046
    set -- $(totals "$out" "$status") $(($(date +%s) - began))
    printf '%s %s %s\n' "$1" "$2" "$3" >"$turns/$name.counts"
    if [ "$2" != 0 ]; then
        cat "$out"
        [ "$status" != 124 ] || printf 'stopped after %s s\n' "$limit"
        printf 'FAILED  %s (%s): %s passed, %s failed, %s skipped, status %s, %s s\n' \
            "$name" "${dir#build/}" "$1" "$2" "$3" "$status" "$4"
    else
        grep '^SKIPPED: ' "$out" || true
        printf 'passed  %s (%s): %s passed, %s skipped, %s s\n' "$name" "${dir#build/}" "$1" "$3" "$4"
    fi >"$turns/$name.part"
    mv "$turns/$name.part" "$turns/$name"
}

# Prints the reports that are there, in the order of the list, up to the first that is not; one worker at a time.
print_due() {
    until mkdir "$turns/printing" 2>/dev/null; do sleep 0.1; done
    while read -r name command; do
        [ ! -e "$turns/$name.printed" ] || continue
        [ -e "$turns/$name" ] || break
        cat "$turns/$name"
        : >"$turns/$name.printed"
    done <"$turns/list"
    rmdir "$turns/printing"
}

# Runs what no other worker has taken yet.
work() {
    running=
    trap '[ -z "$running" ] || { kill "$running"; wait "$running" || true; }; exit 143' TERM
    while read -r name command; do
        mkdir "$turns/$name.taken" 2>/dev/null || continue
        # shellcheck disable=SC2086
        run_one "$build_dir" "${LIMIT:-900}" "$name" $command
        print_due
    done <"$turns/list"
}

stop_workers() {
    trap - INT TERM HUP
    # shellcheck disable=SC2086
    kill $workers ${early:-} 2>/dev/null || true
    wait
    rm -rf "$turns"
    exit 130
}

# Adds up what the runners of the list counted; one that left no counts is a failure.
count_all() {
    while read -r name command; do
        ran=$((ran + 1))
        # shellcheck disable=SC2046
        set -- $(cat "$turns/$name.counts" 2>/dev/null || echo 0 1 0)
        passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
    done <"$turns/list"
}

# run_all DIR FILTER KINDS: the runners of a build whose kind is in KINDS and whose name is FILTER or starts FILTER-, some at once.
run_all() {
    build_dir=$1 filter=$2 kinds=$3
    export BERTH_BUILD="$PWD/$build_dir"
    export BERTH_PROGRAM="$PWD/$build_dir/src/berth"
    turns=$build_dir/turns.$$ workers=
    mkdir "$turns"
    while read -r name kind command; do
        case " $kinds " in *" $kind "*) ;; *) continue ;; esac
        case $name in "${filter:-$name}" | "$filter"-*) ;; *) continue ;; esac
        printf '%s %s\n' "$name" "$command"
    done <"$build_dir/tests/runners" >"$turns/list"
    trap stop_workers INT TERM HUP
    for _ in $(seq "${BERTH_RUNNERS:-3}"); do
        work &
        workers="$workers $!"
    done
    # shellcheck disable=SC2086
    wait $workers || true
    trap - INT TERM HUP
    count_all
    rm -rf "$turns"
}

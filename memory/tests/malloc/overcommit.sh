#!/bin/sh
# overcommit.sh - corner_scarce on a guest whose vm.overcommit_memory is 2.
#
#   overcommit.sh PROGRAM            a corner_scarce that is linked with the malloc under test
#
# Answers 0 if it is right there, 1 if it is not, 77 where there is no guest (run_guest.sh).
set -u
here=$(cd "$(dirname "$0")" && pwd)
busybox=$(command -v busybox) || {
	echo "overcommit: skipped: busybox is not installed"
	exit 77
}
log=$(mktemp) || exit 1
trap 'rm -f "$log"' EXIT
PFS_GUEST_NODES=1 PFS_GUEST_LOG=$log "$here/../../../stress/numa_vm/run_guest.sh" \
	"$busybox sh -c 'echo 2 > /proc/sys/vm/overcommit_memory'" \
	"$1 overcommit_never" "$1 small_from_the_start" "$1 address_space_threads"
answer=$?
[ $answer -eq 0 ] || exit $answer
# An answer of its own kind: the setting must have been there.
grep -q '^ok overcommit_never' "$log"

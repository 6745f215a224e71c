#!/bin/sh
# overcommit.sh - corner_scarce on a guest whose vm.overcommit_memory is 2.
#
#   overcommit.sh PROGRAM            a corner_scarce that is linked with the malloc under test
#
# Exit 0: it passes there. 1: it fails. 77: there is no guest (run_guest.sh).
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
# Another failure: the setting was not in effect.
grep -q '^ok overcommit_never' "$log"

#!/bin/sh
# huge_pages.sh - runs a command while the kernel's transparent huge pages have a mode.
#
# usage: scripts/huge_pages.sh always|madvise|never COMMAND [ARGUMENTS...]
# Needs root. The former mode is back when the command ends, whatever ends it. Exit: the command's.
# 2: bad usage, or the kernel refuses the mode.

FILE=/sys/kernel/mm/transparent_hugepage/enabled

case $1 in
always | madvise | never) ;;
*) set -- ;;
esac
if [ $# -lt 2 ]; then
	sed -n '4,6s/^# //p' "$0" >&2
	exit 2
fi
before=$(sed 's/.*\[\(.*\)\].*/\1/' "$FILE") || exit 2
trap 'echo "$before" >"$FILE"' EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM
echo "$1" >"$FILE" || exit 2
shift
"$@"

#!/usr/bin/env bash
# check_headers.sh - each public header compiles alone, as C11 and as C++17, without a warning.
#
# usage: scripts/check_headers.sh [TOP]
# With gcc, and with clang where it is installed. Exit 0: all do. 1: one does not.
set -u
top=${1:-$(cd "$(dirname "$0")/.." && pwd)}
flags=(-fsyntax-only -Wall -Wextra -Wpedantic -Werror -I "$top/include")
failed=0
checked=0

# compile COMPILER LANGUAGE STANDARD HEADER
compile() {
	command -v "$1" >/dev/null 2>&1 || return 0
	checked=$((checked + 1))
	local said
	if ! said=$(printf '#include <pfslab/%s>\n#include <pfslab/%s>\n' "$4" "$4" |
		"$1" -x "$2" -std="$3" "${flags[@]}" - 2>&1); then
		echo "check_headers.sh: $4 does not compile alone with $1 -std=$3:" >&2
		grep -m 3 -E 'error|warning' <<<"$said" >&2
		failed=1
	fi
}

for path in "$top"/include/pfslab/*.h; do
	[ -e "$path" ] || continue
	header=$(basename "$path")
	compile gcc c c11 "$header"
	compile g++ c++ c++17 "$header"
	compile clang c c11 "$header"
	compile clang++ c++ c++17 "$header"
done
if [ $checked -eq 0 ]; then
	echo "check_headers.sh: nothing to check was found in $top/include/pfslab" >&2
	exit 1
fi
[ $failed -eq 0 ] && echo "check_headers.sh: $checked compilations looked at, no fault"
exit $failed

#!/usr/bin/env bash
# headers.sh - each public header compiles alone, in every C from 11 and C++ from 11 on,
# without a warning, also of those that few turn on; and the hot calls leave no call behind.
#
# usage: scripts/checks/headers.sh [TOP]
# With gcc, and with clang where it is installed. Exit 0: all do. 1: one does not.
set -u
top=${1:-$(cd "$(dirname "$0")/../.." && pwd)}
flags=(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wcast-align -Wcast-qual
	-Wundef -Werror -I "$top/include")
gnu_c=(-Wstrict-prototypes -Wmissing-prototypes)
gnu_cxx=(-Wold-style-cast -Wuseless-cast)
# What clang has of opinions on style, and on dialects older or newer than the one it is given.
all_of_clang=(-Weverything -Wno-padded -Wno-c++98-compat -Wno-c++98-compat-pedantic
	-Wno-declaration-after-statement -Wno-unknown-warning-option -Wno-unsafe-buffer-usage
	-Wno-pre-c2x-compat -Wno-pre-c23-compat)
failed=0
checked=0

# compile COMPILER LANGUAGE STANDARD HEADER [flags...]
compile() {
	command -v "$1" >/dev/null 2>&1 || return 0
	checked=$((checked + 1))
	local said
	if ! said=$(printf '#include <pfslab/%s>\n#include <pfslab/%s>\n' "$4" "$4" |
		"$1" -x "$2" -std="$3" -fsyntax-only "${flags[@]}" "${@:5}" - 2>&1); then
		echo "checks/headers.sh: $4 does not compile alone with $1 -std=$3:" >&2
		grep -m 3 -E 'error|warning' <<<"$said" >&2
		failed=1
	fi
}

# inlines COMPILER LANGUAGE STANDARD: the loop of the README needs one function, for what is rare
inlines() {
	command -v "$1" >/dev/null 2>&1 || return 0
	checked=$((checked + 1))
	local object left
	object=$(mktemp)
	"$1" -x "$2" -std="$3" -O2 -c "${flags[@]}" -o "$object" - <<-'EOF'
		#include <pfslab/container.h>
		void user(struct pfs_thread *thread);
		void user(struct pfs_thread *thread)
		{
			struct pfs_claim claim = pfs_allocate(thread);
			pfs_publish(thread, claim);
			pfs_free(thread, claim.record);
		}
	EOF
	left=$(nm -u "$object" | awk '{print $NF}' | grep -v -x pfs_publish_checked)
	nm -u "$object" | grep -q pfs_publish_checked || left="nothing at all"
	rm -f "$object"
	if [ -n "$left" ]; then
		echo "checks/headers.sh: calls.h: $1 -std=$3 -O2 leaves a call of" $left >&2
		failed=1
	fi
}

for path in "$top"/include/pfslab/*.h; do
	[ -e "$path" ] || continue
	header=$(basename "$path")
	if ! head -n 1 "$path" | grep -q SPDX-License-Identifier; then
		echo "checks/headers.sh: $header: its first line is no SPDX licence identifier" >&2
		failed=1
	fi
	for standard in c11 c17 c2x; do
		compile gcc c $standard "$header" "${gnu_c[@]}"
		compile clang c $standard "$header" "${all_of_clang[@]}"
	done
	for standard in c++11 c++14 c++17 c++20 c++2b; do
		compile g++ c++ $standard "$header" "${gnu_cxx[@]}"
		compile clang++ c++ $standard "$header" "${all_of_clang[@]}"
	done
done
if [ -e "$top/include/pfslab/calls.h" ]; then
	inlines gcc c c11
	inlines clang c c11
	inlines g++ c++ c++11
	inlines clang++ c++ c++17
fi
if [ $checked -eq 0 ]; then
	echo "checks/headers.sh: nothing to check was found in $top/include/pfslab" >&2
	exit 1
fi
[ $failed -eq 0 ] && echo "checks/headers.sh: $checked compilations looked at, no fault"
exit $failed

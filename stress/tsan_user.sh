#!/usr/bin/env bash
# tsan_user.sh - a correct program under ThreadSanitizer, with the plain library, has no report; one
# that writes a freed record has one. By gcc and by clang, where they are installed.
#
# usage: tsan_user.sh SOURCE_FOLDER BUILD_FOLDER
set -eu
source=$1
library=$2/lib
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
tried=0
for compiler in gcc clang; do
	command -v $compiler >/dev/null || continue
	echo 'int main(void) { return 0; }' >"$work/empty.c"
	$compiler -fsanitize=thread "$work/empty.c" -o "$work/empty" 2>/dev/null || continue
	tried=$((tried + 1))
	$compiler -g -O1 -Wall -Wextra -Werror -fsanitize=thread -I"$source/include" \
		"$source/stress/tsan_user.c" -L"$library" -lpfslab -Wl,-rpath,"$library" -pthread \
		-o "$work/user"
	"$work/user"
	if "$work/user" late >"$work/late.txt" 2>&1; then
		echo "$compiler: a write to a freed record was not reported"
		exit 1
	fi
	grep -q "data race" "$work/late.txt"
done
[ $tried -ne 0 ] || exit 77

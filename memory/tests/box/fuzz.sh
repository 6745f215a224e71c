#!/usr/bin/env bash
# fuzz.sh - the reader of boxes under libFuzzer, AddressSanitizer, UBSan, from the kept corpus on.
#
# usage: memory/tests/box/fuzz.sh FOLDER SECONDS [libFuzzer's flags]
# FOLDER: for the program, and what is found. Exit 0: nothing was. 77: clang or its libFuzzer is
# not installed.
set -u
top=$(cd "$(dirname "$0")/../../.." && pwd)
folder=$1 seconds=$2
shift 2
mkdir -p "$folder/found" || exit 1
if ! command -v clang >/dev/null 2>&1 ||
	! echo 'int LLVMFuzzerTestOneInput(const char *d, long n) { return d && n < 0; }' |
	clang -fsanitize=fuzzer,address -x c - -o "$folder/try" 2>/dev/null; then
	echo "fuzz.sh: skipped: no clang with libFuzzer"
	exit 77
fi
box=$top/memory/box
clang -std=gnu11 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
	-I "$top" -I "$top/include" -o "$folder/fuzz" \
	"$top"/memory/tests/box/{fuzz,fixture,fixture_profile,probe}_test.c \
	"$top/containers/action.c" "$box"/{cut,keep,place,refuse,limit_text}.c \
	"$box"/reader_*.c -lm || exit 1
# A new input goes into the copy, and a crash into found.
tar -xf "$top/memory/tests/box/corpus.tar.xz" -C "$folder"
exec "$folder/fuzz" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=9000 \
	-print_final_stats=1 -artifact_prefix="$folder/found/" "$@" "$folder/corpus"

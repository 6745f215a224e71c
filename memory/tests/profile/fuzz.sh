#!/usr/bin/env bash
# fuzz.sh - the reader of dumps, and all writers, under libFuzzer, AddressSanitizer, UBSan.
#
# usage: memory/tests/profile/fuzz.sh FOLDER SECONDS [libFuzzer's flags]
# FOLDER: for the program and its findings. Exit 0: none. 77: clang or its libFuzzer is not
# installed.
set -u
top=$(cd "$(dirname "$0")/../../.." && pwd)
folder=$1 seconds=$2
shift 2
mkdir -p "$folder/found" "$folder/corpus" || exit 1
if ! command -v clang >/dev/null 2>&1 ||
	! echo 'int LLVMFuzzerTestOneInput(const char *d, long n) { return d && n < 0; }' |
	clang -fsanitize=fuzzer,address -x c - -o "$folder/try" 2>/dev/null; then
	echo "fuzz.sh: skipped: no clang with libFuzzer"
	exit 77
fi
from=$top/memory/tool/profile
clang -std=gnu11 -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=all \
	-I "$top" -I "$top/include" -o "$folder/fuzz" "$top/memory/tests/profile/fuzz_test.c" \
	"$from"/{collapsed,compare,dump,dump_line,dump_names,flame,flame_parts,function}.c \
	"$from"/{heap,holders,owner,proto,rules,text,tree}.c "$top/memory/box/refuse.c" \
	"$top/memory/tool/markup.c" \
	-lm -lz || exit 1
# The seeds: what the tests read.
printf '%s\n' 'heap_v2/524288' '  t*: 2: 6 [0: 0]' '  t3: 2: 6 [0: 0]' '@ 0x10 0x2010 0x2020' \
	'  t*: 1: 4 [0: 0]' '  t3: 1: 4 [0: 0]' '@ 0x10' '  t*: 1: 2 [5: 9]' '' \
	'MAPPED_LIBRARIES:' '1000-3000 r-xp 00001000 00:00 7 /usr/bin/a b' \
	>"$folder/corpus/heap_v2"
printf '%s\n' 'heap profile: 3: 300 [5: 500] @ heap_v2/1000' '1: 100 [2: 200] @ 0x10 0x20' \
	'2: 200 [3: 300] @ 0x10 0x30' 'MAPPED_LIBRARIES:' >"$folder/corpus/lines"
printf '%s\n' '--- symbol' 'binary=/usr/bin/a' '0x10 malloc' '0x1f outer(int)--inner const' '---' \
	'--- heap' 'heap_v2/1' '@ 0x10 0x20' '  t*: 1: 8 [0: 0]' >"$folder/corpus/named"
exec "$folder/fuzz" -max_total_time="$seconds" -timeout=10 -rss_limit_mb=2048 -max_len=4000 \
	-only_ascii=1 -artifact_prefix="$folder/found/" "$@" "$folder/corpus"

#!/bin/sh
# delays_seed.sh - a seed repeats the decisions, another seed has others, and PFS_DELAYS=0
# has none. PROGRAM: delays_test.
set -eu
one=$(PFS_DELAYS_SEED=1 "$1" decisions)
again=$(PFS_DELAYS_SEED=1 "$1" decisions)
two=$(PFS_DELAYS_SEED=2 "$1" decisions)
off=$(PFS_DELAYS=0 "$1" decisions)
zero=0000000000000000
fail() {
	echo "check failed: $1"
	exit 1
}
[ "$one" = "$again" ] || fail "seed 1 decided $one, then $again"
[ "$one" != "$two" ] || fail "seeds 1 and 2 both decided $one"
[ "$(echo "$one" | sort -u | wc -l)" = 2 ] || fail "two threads decided the same: $one"
[ "$off" = "$zero
$zero" ] || fail "PFS_DELAYS=0 decided $off"
echo "seed 1: $one; seed 2: $two" | tr '\n' ' '

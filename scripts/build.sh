# shellcheck shell=bash disable=SC2154 # top is set by who sources this
# build.sh - sourced by run: configure and build presets, quiet unless they fail.

# build_preset PRESET TARGET: its log stands in build/PRESET.log and is shown on failure.
build_preset() {
	local preset=$1 target=$2 log=$top/build/$1.log
	mkdir -p "$top/build" 2>/dev/null || {
		echo "cannot write $top/build; clone the project to a folder that you may write" >&2
		return 1
	}
	(cd "$top" && cmake --preset "$preset" && cmake --build --preset "$preset" \
		--target "$target") </dev/null >"$log" 2>&1 && return 0
	echo "building '$preset' failed; the end of build/$preset.log:" >&2
	grep -E 'error|Error|FAILED' "$log" | head -n 10 >&2
	tail -n 5 "$log" >&2
	return 1
}

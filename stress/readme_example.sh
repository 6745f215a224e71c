#!/bin/sh
# Build what the README shows, as its reader would: the C example against an installed pfslab,
# by CMake and by pkg-config, and the one in C++; and run all.
# Usage: readme_example.sh SOURCE_FOLDER BUILD_FOLDER
set -eu
source_dir=$1
build_dir=$2
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

block() { # block LANGUAGE: the README's first fenced block of that language
	awk -v fence="\`\`\`$1" '$0 == fence { on = 1; next } /^```/ { if (on) exit } on' \
		"$source_dir/README.md"
}
block c > "$scratch/example.c"
block cpp > "$scratch/example.cc"
block cmake > "$scratch/CMakeLists.txt"
[ -s "$scratch/example.c" ] && [ -s "$scratch/example.cc" ] && [ -s "$scratch/CMakeLists.txt" ] || {
	echo "README.md: no c, no cpp or no cmake block found" >&2
	exit 1
}

cmake --install "$build_dir" --prefix "$scratch/prefix" > "$scratch/install.log"
cmake -S "$scratch" -B "$scratch/build" -DCMAKE_PREFIX_PATH="$scratch/prefix" > "$scratch/cmake.log"
cmake --build "$scratch/build" > "$scratch/build.log"
by_cmake=$("$scratch/build/example")

PKG_CONFIG_PATH="$scratch/prefix/lib/pkgconfig"
export PKG_CONFIG_PATH
# shellcheck disable=SC2046 # the flags are words
cc -std=c11 -Wall -Wextra -Werror "$scratch/example.c" -o "$scratch/example" \
	$(pkg-config --cflags --libs pfslab)
by_pkg_config=$("$scratch/example")
# shellcheck disable=SC2046 # the flags are words
c++ -std=c++11 -Wall -Wextra -Werror "$scratch/example.cc" -o "$scratch/example_cxx" \
	$(pkg-config --cflags --libs pfslab)
[ "$("$scratch/example_cxx")" = "point 3 4" ] || {
	echo "the example in C++ says something else" >&2
	exit 1
}

printf '%s\n' "$by_cmake"
[ "$by_cmake" = "$by_pkg_config" ] || {
	echo "the two builds print different things" >&2
	exit 1
}
[ "$by_cmake" = "version 1, 1 page" ]

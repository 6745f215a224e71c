#!/bin/sh
# readme_example.sh - builds the documents' examples against an installed pfslab: the README's in C
# by CMake and by pkg-config, with the shared library and with the archive, and the one in C++ of
# docs/how-to/using-the-library.md; and runs them. The prefix has a space in its name, and was moved
# after it was installed.
# Usage: readme_example.sh SOURCE_FOLDER BUILD_FOLDER
#    or: readme_example.sh SOURCE_FOLDER --prefix PREFIX
set -eu
source_dir=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

block() { # block LANGUAGE FILE: the file's first fenced block of that language
	awk -v fence="\`\`\`$1" '$0 == fence { on = 1; next } /^```/ { if (on) exit } on' \
		"$source_dir/$2"
}

fail() {
	echo "readme_example.sh: $*" >&2
	exit 1
}

quietly() { # log command...
	log=$scratch/$1.log
	shift
	"$@" > "$log" 2>&1 || { tail -n 15 "$log" >&2; fail "failed: $*"; }
}

block c README.md > "$scratch/example.c"
block cpp docs/how-to/using-the-library.md > "$scratch/example.cc"
block cmake README.md > "$scratch/CMakeLists.txt"
[ -s "$scratch/example.c" ] && [ -s "$scratch/example.cc" ] && [ -s "$scratch/CMakeLists.txt" ] ||
	fail "no c and cmake block in README.md, or no cpp block in using-the-library.md"

if [ "$2" = --prefix ]; then
	prefix=$3
else
	quietly install env DESTDIR="$scratch/staged" cmake --install "$2" --prefix /opt/pfslab \
		--component pfslab-kit
	mkdir "$scratch/a prefix"
	prefix="$scratch/a prefix/pfslab"
	mv "$scratch/staged/opt/pfslab" "$prefix"
fi

quietly cmake cmake -S "$scratch" -B "$scratch/build" -DCMAKE_PREFIX_PATH="$prefix"
quietly build cmake --build "$scratch/build"
[ "$("$scratch/build/example")" = "version 1, 1 page" ] || fail "by CMake it says something else"
mkdir "$scratch/static"
sed 's/find_package(pfslab/& COMPONENTS static/; s/pfslab::pfslab/pfslab::pfslab_static/' \
	"$scratch/CMakeLists.txt" > "$scratch/static/CMakeLists.txt"
cp "$scratch/example.c" "$scratch/static/"
quietly cmake cmake -S "$scratch/static" -B "$scratch/static/build" -DCMAKE_PREFIX_PATH="$prefix"
quietly build cmake --build "$scratch/static/build"
[ "$("$scratch/static/build/example")" = "version 1, 1 page" ] ||
	fail "the archive says something else"
ldd "$scratch/static/build/example" | grep -q libpfslab && fail "the archive was not used"

# Backslashes stand before the spaces in what pkg-config prints, for eval.
pc=$(find "$prefix" -name pfslab.pc)
PKG_CONFIG_PATH=$(dirname "$pc")
LD_LIBRARY_PATH=$(dirname "$PKG_CONFIG_PATH")
export PKG_CONFIG_PATH LD_LIBRARY_PATH
flags=$(pkg-config --cflags --libs pfslab)
eval "quietly cc cc -std=c11 -Wall -Wextra -Werror \"\$scratch/example.c\" \
	-o \"\$scratch/example\" $flags"
[ "$("$scratch/example")" = "version 1, 1 page" ] || fail "by pkg-config it says something else"
eval "quietly cxx c++ -std=c++11 -Wall -Wextra -Werror \"\$scratch/example.cc\" \
	-o \"\$scratch/example_cxx\" $flags"
[ "$("$scratch/example_cxx")" = "point 3 4" ] || fail "the example in C++ says something else"
ldd "$scratch/example" | grep -qF "$LD_LIBRARY_PATH/libpfslab.so" ||
	fail "the shared library of the prefix is not the one that is used"
made=$(find "$prefix" \( -name '*.cmake' -o -name '*.pc' \) -exec grep -hF "$scratch/staged" {} \;)
[ -z "$made" ] ||
	fail "a file has the folder in it that it was installed in"
echo "version 1, 1 page"

#!/bin/sh
# switches.sh - every combination of the switches configures, and each product builds alone, and has
# its own package alone.
# usage: switches.sh SOURCE_FOLDER
set -eu
source_dir=$1
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

configure() { # configure FOLDER OPTION...
	folder=$scratch/$1
	shift
	cmake -S "$source_dir" -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=None "$@" \
		> "$scratch/log" 2>&1 || {
		tail -n 20 "$scratch/log" >&2
		echo "switches.sh: does not configure: $*" >&2
		exit 1
	}
	rm -rf "$folder/CMakeFiles/CMakeTmp"
}

builds() { # builds FOLDER TARGET...
	folder=$scratch/$1
	shift
	cmake --build "$folder" --target "$@" > "$scratch/log" 2>&1 || {
		tail -n 20 "$scratch/log" >&2
		echo "switches.sh: does not build: $*" >&2
		exit 1
	}
}

packs() { # packs FOLDER PACKAGE
	grep -qx "set(CPACK_COMPONENTS_ALL \"$2\")" "$scratch/$1/CPackConfig.cmake" ||
		! command -v dpkg-shlibdeps > /dev/null || {
		echo "switches.sh: $1: the packages are not $2 alone" >&2
		exit 1
	}
}

for kit in ON OFF; do
	for check in ON OFF; do
		for memory in ON OFF; do
			configure "$kit$check$memory" -DPFS_KIT=$kit -DPFS_CHECK=$check \
				-DPFS_MEMORY=$memory
		done
	done
done
configure tools -DPFS_TOOLS=OFF
configure bare -DPFS_TOOLS=OFF -DPFS_BENCH=OFF -DPFS_TESTS=OFF
builds ONOFFOFF pfs-bench pfs-stress pfs-sim pfslab_shared
builds OFFONOFF pfs-check pfs-litmus
builds OFFOFFON pfs-mem pfsmem pfsmalloc pfsaccounts_shared
packs ONOFFOFF pfslab-kit
packs OFFONOFF pfs-check
packs OFFOFFON pfs-mem
echo "10 combinations"

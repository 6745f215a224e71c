#!/usr/bin/env bash
# package.sh - the Debian packages as a stranger gets them: in a fresh Debian, by apt.
#
# usage: scripts/checks/package.sh [BUILD_FOLDER] [--keep FOLDER]
# A fresh system of this machine's own release is made by debootstrap, with the sources and the
# settings of apt here. Each package is installed there alone: its programs are run, their man pages
# shown, completions asked, programs built with its headers and libraries; then it is purged, and
# the lists of files before and after must be the same. Some 2 minutes, 700 MB, root.
# BUILD_FOLDER: build/release. --keep: the fresh system is made there, and is used again.
# Exit 0: all as promised. 1: the first thing that is not, in one line. 2: bad usage, or no root.
set -eu
top=$(cd "$(dirname "$0")/../.." && pwd)
build=$top/build/release
keep=
while [ $# -gt 0 ]; do
	case $1 in
	--help | -h) sed -n '2,11s/^# \{0,1\}//p' "$0"; exit 0 ;;
	--keep) [ $# -gt 1 ] || { echo "package.sh: --keep: name a folder" >&2; exit 2; }
		keep=$2; shift ;;
	-*) echo "package.sh: unknown option '$1'; try --help" >&2; exit 2 ;;
	*) build=$1 ;;
	esac
	shift
done

fail() {
	echo "package.sh: $*" >&2
	exit 1
}

[ "$(id -u)" -eq 0 ] || { echo "package.sh: debootstrap needs root" >&2; exit 2; }
[ -e "$build/CPackConfig.cmake" ] || 
	fail "$build: no build folder; cmake --build --preset release"
command -v debootstrap >/dev/null ||
	fail "debootstrap is not installed: apt-get install debootstrap"

work=$(mktemp -d)
fresh=${keep:-$work/root}
mounted=
clean() {
	[ -z "$mounted" ] || umount "$fresh/proc" || true
	rm -rf "$work"
}
trap clean EXIT
trap 'exit 1' INT TERM
say() {
	printf '[%3d s] %s\n' $SECONDS "$*"
}

# Output is shown only when a command fails.
quietly() { # what words...
	local what=$1
	shift
	"$@" >"$work/said" 2>&1 && return
	tail -n 20 "$work/said" >&2
	fail "$what"
}

# What runs in the fresh system; see quietly.
inside() { # words...
	quietly "in the fresh system: $*" chroot "$fresh" env -i HOME=/root LC_ALL=C.UTF-8 \
		PATH=/usr/sbin:/usr/bin:/sbin:/bin DEBIAN_FRONTEND=noninteractive "$@"
}

# apt keeps what was installed automatically while another package, the compiler say, suggests it.
purge() {
	inside dpkg --purge pfslab-kit pfs-check pfs-mem pfslab-doc
	inside apt-get autoremove --purge -y -o APT::AutoRemove::SuggestsImportant=false \
		-o APT::AutoRemove::RecommendsImportant=false
}

# Every file, but caches and logs of apt, dpkg and ldconfig.
files() { # out
	(cd "$fresh" && find . -xdev \( -path ./proc -o -path ./sys -o -path ./dev -o -path ./tmp \
		-o -path ./check -o -path ./var/cache -o -path ./var/log -o -path ./var/lib/apt \
		-o -path './var/lib/dpkg/*-old' -o -path ./var/lib/dpkg/info/format \) -prune \
		-o -print | sort) >"$1"
}

. /etc/os-release
mirror=$(apt-cache policy 2>/dev/null | awk -v suite="$VERSION_CODENAME/main" \
	'$3 == suite { print $2; exit }')
[ -n "$mirror" ] || fail "apt knows no source of $VERSION_CODENAME/main"

say "packages of $build"
quietly "cpack failed" cpack --config "$build/CPackConfig.cmake" -B "$work/packages"

if [ ! -e "$fresh/etc/debian_version" ]; then
	say "debootstrap of $VERSION_CODENAME from $mirror"
	eval "$(apt-config shell proxy Acquire::http::Proxy)"
	[ -z "${proxy-}" ] || export http_proxy="$proxy"
	quietly "debootstrap failed" \
		debootstrap --variant=minbase "$VERSION_CODENAME" "$fresh" "$mirror"
	# A fresh Debian has man, unlike an image that was made small; sources and settings as here.
	rm -f "$fresh/etc/apt/sources.list"
	cp -r /etc/apt/sources.list.d /etc/apt/apt.conf.d "$fresh/etc/apt/"
	rm -f "$fresh"/etc/apt/apt.conf.d/*docker* "$fresh"/etc/apt/sources.list.d/*disabled*
	cp /etc/resolv.conf "$fresh/etc/"
fi
mount -t proc proc "$fresh/proc"
mounted=yes
inside apt-get update
say "compiler, cmake, pkg-config, python3, man, bash-completion"
inside apt-get install -y --no-install-recommends gcc g++ libc6-dev make cmake pkg-config \
	python3 man-db bash-completion file lintian
purge # what a run that failed left in a system that is kept
files "$work/before"
inside dpkg-query -W
cp "$work/said" "$work/packages-before"

rm -rf "$fresh/check"
mkdir "$fresh/check"
cp "$work"/packages/*.deb "$fresh/check/"
(cd "$top" && cp --parents README.md docs/how-to/using-the-library.md docs/reference/check.md \
	docs/tutorials/check-your-ring.md docs/how-to/check-in-your-ci.md \
	stress/readme_example.sh check/tests/installed_test.py scripts/common/expect.py \
	memory/tests/accounts/trace_example.c "$fresh/check/")
chmod -R a+rX "$fresh/check"

# Help, man page and completion.
try() { # program
	inside "$1" --help
	inside "$1" --version
	inside env MANWIDTH=80 man "$1"
	grep -q "^NAME" "$work/said" || fail "man $1 shows no page"
	inside bash -c '. /usr/share/bash-completion/bash_completion; _completion_loader "$1"
		complete -p "$1"; COMP_WORDS=("$1" --h); COMP_CWORD=1; COMP_LINE="$1 --h"
		COMP_POINT=${#COMP_LINE}; of=$(complete -p "$1"); of=${of#*-F }; of=${of%% *}
		"$of" "$1" --h "$1"; echo "offered: ${COMPREPLY[*]}"' bash "$1"
	grep -q "^offered:.*--help" "$work/said" ||
		fail "completion of '$1 --h': $(tail -n 1 "$work/said")"
}

# What each package is for, with nothing but itself.
use() { # package
	case $1 in
	pfslab-kit) # its archive needs what it suggests
		inside apt-get install -y --no-install-recommends libhwloc-dev
		inside apt-mark auto libhwloc-dev
		inside /check/stress/readme_example.sh /check --prefix /usr
		inside pfs-bench --workloads=pair --policies=exact --threads=1 \
			--benchmark_min_time=0.01
		inside pfs-sim run --machine "core:2 pu:1" --threads 2 --policy exact \
			--workload churn --ops 100 --seed 1 ;;
	pfs-check) inside /check/check/tests/installed_test.py /check --prefix /usr ;;
	pfs-mem)
		inside pfs-mem run --dir /check -- sh -c 'ls / >/dev/null'
		inside env LD_PRELOAD=libpfsmalloc.so PFS_MALLOC_CONF=stats_print:true ls /
		inside sh -c 'cc /check/memory/tests/accounts/trace_example.c -o /check/accounts \
			$(pkg-config --cflags --libs pfs-mem) && /check/accounts' ;;
	pfslab-doc) [ -e "$fresh/usr/share/doc/pfslab/html/index.html" ] ||
		fail "pfslab-doc has no pages: was cmark-gfm there when it was built?" ;;
	*) fail "$1: a package that this script does not know" ;;
	esac
	for program in $(dpkg-deb -c "$work/packages/$1"_*.deb | sed -n 's|.* \./usr/bin/||p'); do
		try "$program"
	done
}

for package in "$work"/packages/*.deb; do
	package=$(dpkg-deb -f "$package" Package)
	say "$package"
	inside sh -c "cd /check && apt-get install -y --no-install-recommends ./${package}_*.deb"
	use "$package"
	purge
	inside dpkg-query -W
	diff "$work/packages-before" "$work/said" || fail "packages stay after $package"
	files "$work/after"
	diff "$work/before" "$work/after" || fail "files differ after $package"
done

say "lintian"
inside sh -c 'cd /check && lintian --tag-display-limit 0 ./*.deb || true'
grep -v '^running with root' "$work/said" || true
! grep '^E:' "$work/said" >/dev/null || fail "lintian found an error"
say "each installed, used, purged; $(wc -l <"$work/after") files as before"

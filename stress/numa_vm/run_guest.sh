#!/bin/sh
# run_guest.sh - run programs on a machine with 4 NUMA nodes, which qemu emulates in software.
#
#   run_guest.sh PROGRAM...          each one a command with its arguments, in quotes
#
# Boots the installed Debian kernel with the programs, their libraries and busybox as its whole
# system, runs them one after the other, and answers 0 if all of them did, 1 if one did not or
# the guest did not end in time, 77 where qemu, the kernel, cpio or busybox is missing.
# Node n has the CPUs 2n and 2n+1 and 256 MiB. What is proven is where things land; times mean
# nothing. PFS_GUEST_KERNEL names another kernel, PFS_GUEST_LOG keeps the guest's console, and
# PFS_GUEST_NODES=1 makes it a machine of one node and one CPU, which boots sooner.
#
# /dev/kvm is not used: in a virtual machine it is often there and hangs in the firmware.
set -u
here=$(cd "$(dirname "$0")" && pwd)
seconds=${PFS_GUEST_SECONDS:-120}

skip() {
	echo "numa_vm: skipped: $1"
	exit 77
}
fail() {
	echo "numa_vm: $1" >&2
	exit 1
}

if [ $# -eq 0 ]; then
	echo "usage: run_guest.sh PROGRAM..." >&2
	exit 2
fi
[ "$(uname -m)" = x86_64 ] || skip "the guest needs an x86-64 kernel, this is $(uname -m)"
for tool in qemu-system-x86_64 cpio gzip; do
	command -v $tool >/dev/null || skip "$tool is not installed"
done
busybox=$(command -v busybox) || skip "busybox is not installed (package busybox-static)"
ldd "$busybox" >/dev/null 2>&1 && skip "$busybox is not static (package busybox-static)"
newest=$(find /boot -name 'vmlinuz-*-amd64' 2>/dev/null | sort -V | tail -n 1)
kernel=${PFS_GUEST_KERNEL:-$newest}
[ -n "$kernel" ] ||
	skip "no kernel in /boot (package linux-image-amd64; scripts/test --guest installs it)"
[ -r "$kernel" ] || skip "$kernel is not readable for $(id -un)"

work=$(mktemp -d) || fail "no temporary folder"
trap 'rm -rf "$work"' EXIT
trap 'exit 1' INT TERM
root=$work/root
mkdir -p "$root/bin" "$root/proc" "$root/sys" "$root/dev" "$root/tmp"
cp "$busybox" "$root/bin/busybox"

# A file goes to the path it has here, so that programs find what their build compiled in.
carry() {
	mkdir -p "$root$(dirname "$1")"
	cp -L "$1" "$root$1" || fail "cannot copy $1"
}
carry "$here/four_nodes.xml"
for command in "$@"; do
	program=${command%% *}
	[ -x "$program" ] || fail "$program: no such program"
	carry "$program"
	for library in $(ldd "$program" | grep -o '/[^ ]*'); do
		[ -e "$root$library" ] || carry "$library"
	done
done

# numa_balancing would move first-touch pages to the CPU that reads them.
{
	cat <<'END'
#!/bin/busybox sh
busybox() { /bin/busybox "$@"; }
busybox mount -t proc none /proc
busybox mount -t sysfs none /sys
busybox mount -t devtmpfs none /dev
echo 0 > /proc/sys/kernel/numa_balancing
cd /tmp
END
	for command in "$@"; do
		echo "$command"
		echo "echo \"guest: exit \$? of ${command%% *}\""
	done
	echo 'busybox poweroff -f'
} > "$root/init"
chmod 755 "$root/init"
(cd "$root" && find . | cpio -o -H newc --quiet | gzip -1) > "$work/initramfs" ||
	fail "cannot pack the guest's files"

machine="-smp 1 -m 1G"
if [ "${PFS_GUEST_NODES:-4}" -ne 1 ]; then
	machine="-smp 8,sockets=4,cores=2 -m 1G"
	for node in 0 1 2 3; do
		machine="$machine -object memory-backend-ram,id=m$node,size=256M"
		cpus=$((2 * node))-$((2 * node + 1))
		machine="$machine -numa node,nodeid=$node,cpus=$cpus,memdev=m$node"
	done
	for distance in 0,1,16 0,2,21 0,3,32 1,2,32 1,3,21 2,3,16; do
		IFS=, read -r from to value <<-END
			$distance
		END
		machine="$machine -numa dist,src=$from,dst=$to,val=$value"
	done
fi
# shellcheck disable=SC2086 # the machine's options are words
timeout -k 5 "$seconds" qemu-system-x86_64 -accel tcg -cpu max $machine \
	-display none -nodefaults -serial stdio -no-reboot -kernel "$kernel" \
	-initrd "$work/initramfs" -append "console=ttyS0 quiet panic=-1" \
	< /dev/null > "$work/console" 2> "$work/errors"
answer=$?
tr -d '\r' < "$work/console" > "$work/log"
[ -n "${PFS_GUEST_LOG:-}" ] && cp "$work/log" "$PFS_GUEST_LOG"
cat "$work/log"
[ $answer -eq 124 ] && fail "the guest did not end within $seconds s"
[ $answer -eq 0 ] || fail "qemu answered $answer: $(head -n 1 "$work/errors")"

ended=$(grep -c '^guest: exit ' "$work/log")
[ "$ended" -eq $# ] || fail "$ended of $# programs ended"
if grep '^guest: exit ' "$work/log" | grep -v '^guest: exit 0 ' >&2; then
	fail "not every program answered 0"
fi

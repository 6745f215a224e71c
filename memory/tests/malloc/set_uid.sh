#!/bin/sh
# set_uid.sh - a set-uid program does not read PFS_MALLOC_CONF.
#
#   set_uid.sh PROGRAM               any program that is linked with the malloc under test
#
# Exit 0: it does not. 1: it does. 77: no such program can be made: that takes root, and a file
# system that allows it.
set -u
[ "$(id -u)" = 0 ] || {
	echo "set_uid: skipped: only root can make a program of another user"
	exit 77
}
folder=$(mktemp -d) || exit 1
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
cp "$1" "$folder/program" || exit 1
said() {
	PFS_MALLOC_CONF=no_such_option:1 "$folder/program" --list 2>&1 >"$folder/out" ||
		echo "exit $?"
}
case $(said) in
*no_such_option*) ;;
*)
	echo "set_uid: failed: an unknown option is not named although the program is nobody's"
	exit 1
	;;
esac
chown nobody "$folder/program" && chmod u+s "$folder/program" || exit 77
[ "$(stat -c %U "$folder/program")" = nobody ] || exit 77
told=$(said)
# Skipped if the user may not load the library, or the set-uid bit is ignored.
case $told in
*"cannot open shared object"*)
	echo "set_uid: skipped: nobody may not read the library"
	exit 77
	;;
esac
case $(findmnt -n -o OPTIONS --target "$folder") in
*nosuid*)
	echo "set_uid: skipped: $folder is on a file system without set-uid"
	exit 77
	;;
esac
[ -z "$told" ] || {
	echo "set_uid: failed: the set-uid program says: $told"
	exit 1
}
echo "set_uid: ok"

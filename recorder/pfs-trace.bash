# pfs-trace.bash - completion of pfs-trace for bash; made by base/describe.py.

_pfs_trace_options() {
	case $1 in
	info) echo "--help --version" ;;
	dump) echo "--events --help --version" ;;
	check) echo "--help --version" ;;
	cut) echo "--events --from --bytes --sizes --help --version" ;;
	esac
}

# What follows an option: words; nothing for any, 1 for none.
_pfs_trace_values() {
	local words
	case "$2 $3" in
	*) return 1 ;;
	esac
	echo $words
}

_pfs_trace() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} values
	COMPREPLY=()
	if [ "$word" = "=" ]; then
		word=
	elif [ "$before" = "=" ]; then
		before=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	if [ "$COMP_CWORD" -eq 1 ]; then
		mapfile -t COMPREPLY < <(compgen -W "info dump check cut --help --version" -- "$word")
		return
	fi
	if values=$(_pfs_trace_values "${COMP_WORDS[0]}" "${COMP_WORDS[1]}" "$before"); then
		mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word")
		return
	fi
	case $before in
	--bytes | --events | --from | --sizes) return ;;
	esac
	if [[ $word == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_pfs_trace_options "${COMP_WORDS[1]}")" -- "$word")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
	fi
}

complete -o filenames -F _pfs_trace pfs-trace

# pfs-stress.bash - completion of pfs-stress for bash; made by base/describe.py.

_pfs_stress_options() {
	case $1 in
	*) echo "--policy --layout --threads --seconds --seed --workload --faults --full-flags --list-policies --help --version" ;;
	esac
}

# What follows an option: words; nothing for any, 1 for none.
_pfs_stress_values() {
	local words
	case "$2 $3" in
	*" --full-flags") words="on off" ;;
	*" --policy") words=$("$1" --list-policies 2>/dev/null | awk '{ print $1 }') ;;
	*" --layout") words="in-record side-by-side bare bare-words own-word both" ;;
	*" --workload") words="plain optimistic history all" ;;
	*" --faults") words="memory maximum parked reader wrap all none" ;;
	*) return 1 ;;
	esac
	echo $words
}

_pfs_stress() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} values
	COMPREPLY=()
	if [ "$word" = "=" ]; then
		word=
	elif [ "$before" = "=" ]; then
		before=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	if values=$(_pfs_stress_values "${COMP_WORDS[0]}" "" "$before"); then
		mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word")
		return
	fi
	case $before in
	--faults | --full-flags | --layout | --policy | --seconds | --seed | --threads | --workload) return ;;
	esac
	if [[ $word == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_pfs_stress_options "")" -- "$word")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
	fi
}

complete -o filenames -F _pfs_stress pfs-stress

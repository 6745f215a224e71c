# pfs-check.bash - completion of pfs-check for bash; made by base/describe.py.

_pfs_check_options() {
	case $1 in
	*) echo "--scenario --memory --search --calls --preemptions --spurious --looks --executions --seconds --patience --steps --seed --complete --no-races --uninitialized --volatile --own --foreign --jobs --save --schedule --gdb --list --example --json --quiet --help --version" ;;
	esac
}

# What follows an option: words; nothing for any, 1 for none.
_pfs_check_values() {
	local words
	case "$2 $3" in
	" --memory") words="sc tso views" ;;
	" --search") words="exhaustive dpor optimal sleep bounded naive random pct pos urw slow rotate" ;;
	*" --calls") words="clock known" ;;
	*) return 1 ;;
	esac
	echo $words
}

_pfs_check() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} values
	COMPREPLY=()
	if [ "$word" = "=" ]; then
		word=
	elif [ "$before" = "=" ]; then
		before=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	if values=$(_pfs_check_values "${COMP_WORDS[0]}" "" "$before"); then
		mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word")
		return
	fi
	case $before in
	--calls | --executions | --foreign | --jobs | --looks | --memory | --own | --patience | --preemptions | --scenario | --search | --seconds | --seed | --spurious | --steps) return ;;
	--json | --save | --schedule)
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		return ;;
	esac
	if [[ $word == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_pfs_check_options "")" -- "$word")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
	fi
}

complete -o filenames -F _pfs_check pfs-check

# pfs-mem.bash - completion of pfs-mem for bash: commands, options, targets, tables.

# What follows the word before the one that is completed; nothing: no value does.
_pfs_mem_values() {
	case "$1 $2" in
	"run --by") echo "library site" ;;
	"run --arenas") echo "pool" ;;
	"run --for") echo "python php glib node java" ;;
	"run --rule") echo "exact freer global" ;;
	"top --by") echo "instrument thread account user host" ;;
	"pprof --format") echo "text heap_v2 proto collapsed" ;;
	*" --format") echo "text table csv json tab" ;;
	*) return 1 ;;
	esac
}

_pfs_mem_options() {
	case $1 in
	run) echo "--keep --keep-dead --by --arenas --rule --tick-ms --instruments --threads --no-profile" \
		"--lg-prof-sample --guard --for --dir --limit --help --version" ;;
	list | show | sql) echo "--format --help --version" ;;
	top) echo "--once --by --count --format --help --version" ;;
	profile) echo "--lg-prof-sample --base --since --history --total --at-peak --older-than --newer-than --seconds" \
		"--rules --by-name --count --format --help --version" ;;
	pprof) echo "--format --symbolized --base --live --total --at-peak --older-than --newer-than --seconds" \
		"--out --help --version" ;;
	flame) echo "--out --base --since --live --total --at-peak --older-than --newer-than --seconds" \
		"--rules --help --version" ;;
	report | walk) echo "--out --help --version" ;;
	serve) echo "--http --token-file --mysql --password-file --allow-changes --allow-remote" \
		"--idle-seconds --help --version" ;;
	clean) echo "--all --help --version" ;;
	truncate | enable | disable | check | corruption) echo "--help --version" ;;
	esac
}

# Process ids and files of the boxes there are.
_pfs_mem_targets() {
	echo last
	"$1" list --format tab 2>/dev/null | awk -F '\t' 'NR > 1 { print $1; print $NF }'
}

_pfs_mem_instruments() {
	"$1" sql "$2" "SELECT NAME FROM setup_instruments" --format tab 2>/dev/null | tail -n +2
}

_pfs_mem() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]}
	local tool=${COMP_WORDS[0]} command=${COMP_WORDS[1]} words=0 i values
	COMPREPLY=()
	if [ "$COMP_CWORD" -eq 1 ]; then
		mapfile -t COMPREPLY < <(compgen -W "run list top show truncate enable disable check \
			clean sql serve report profile pprof flame walk corruption --help --version" -- "$word")
		return
	fi
	if values=$(_pfs_mem_values "$command" "$before"); then
		mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word")
		return
	fi
	case $before in
	--out | --password-file | --token-file) mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
	--dir) mapfile -t COMPREPLY < <(compgen -d -- "$word"); return ;;
	--http) mapfile -t COMPREPLY < <(compgen -W "socket 127.0.0.1:8080" -- "$word"); return ;;
	--mysql) mapfile -t COMPREPLY < <(compgen -W "socket 127.0.0.1:3307" -- "$word"); return ;;
	--base) mapfile -t COMPREPLY < <(compgen -W "$(_pfs_mem_targets "$tool")" -- "$word"
		compgen -f -- "$word"); return ;;
	--since) mapfile -t COMPREPLY < <(compgen -W "10m 1h 1d" -- "$word"); return ;;
	--tick-ms | --instruments | --threads | --keep-dead | --count | --lg-prof-sample | --guard | --limit | --idle-seconds) return ;;
	esac
	if [[ $word == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_pfs_mem_options "$command")" -- "$word")
		return
	fi
	# How many words stand before this one that are no options, nor values of them?
	for ((i = 2; i < COMP_CWORD; i++)); do
		case ${COMP_WORDS[i]} in
		--format | --by | --arenas | --rule | --tick-ms | --instruments | --threads | --keep-dead | --dir | --limit | --count | \
			--out | --base | --since | --lg-prof-sample | --guard | --mysql | --password-file | --http | \
			--token-file | --idle-seconds) i=$((i + 1)) ;;
		-*) ;;
		*) words=$((words + 1)) ;;
		esac
	done
	case $command:$words in
	run:0) mapfile -t COMPREPLY < <(compgen -c -- "$word") ;;
	run:*) mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
	top:0 | show:0 | truncate:0 | enable:0 | disable:0 | check:0 | sql:0 | serve:* | report:0 | \
		profile:0 | pprof:0 | flame:0 | walk:0 | corruption:0)
		mapfile -t COMPREPLY < <(compgen -W "$(_pfs_mem_targets "$tool")" -- "$word"
			compgen -f -- "$word") ;;
	show:1 | truncate:1)
		mapfile -t COMPREPLY < <(compgen -W "thread account user host global" -- "$word") ;;
	profile:1) mapfile -t COMPREPLY < <(compgen -W "on off" -- "$word") ;;
	enable:1 | disable:1)
		mapfile -t COMPREPLY < <(compgen -W "$(_pfs_mem_instruments "$tool" "$before")" \
			-- "$word") ;;
	esac
}

complete -o filenames -F _pfs_mem pfs-mem

# pfs-sim.bash - completion of pfs-sim for bash; made by base/describe.py.

_pfs_sim_options() {
	case $1 in
	explore) echo "--policy --scenario --threads --operations --memory --append-only --weaken --no-races --search --preemptions --jobs --memory-mib --executions --seconds --seed --full-flags --layout --owner-fences --real-time --save --quiet --help --version" ;;
	check) echo "--memory --executions --seed --policy --help --version" ;;
	progress) echo "--policy --scenario --memory --executions --fill --help --version" ;;
	replay) echo "--help --version" ;;
	weaken) echo "--labels --executions --seed --noted --out --help --version" ;;
	list) echo "--traits --workloads --help --version" ;;
	run) echo "--machine --threads --policy --workload --occupancy --ops --window-us --seed --seeds --costs --slice-us --pass-us --placement --hot --format --records --pages --page-records --page-prealloc --page-max --record-size --layout --memory --owner-fences --full-flags --reclaim-period-ms --reclaim-decay-passes --trace --series --help --version" ;;
	soak) echo "--runs --policies --seed --first --jobs --seconds --trace --out --help --version" ;;
	calibrate) echo "--out --seconds --preset --help --version" ;;
	curves) echo "--help --version" ;;
	speed) echo "--help --version" ;;
	esac
}

# What follows an option: words; nothing for any, 1 for none.
_pfs_sim_values() {
	local words
	case "$2 $3" in
	"explore --memory") words="sc tso views" ;;
	"explore --search") words="exhaustive dpor optimal sleep states fixpoint bounded naive random pct pos urw slow rotate" ;;
	"check --memory") words="sc tso views" ;;
	"progress --memory") words="sc tso" ;;
	"run --memory") words="first-touch local interleave" ;;
	*" --full-flags") words="on off" ;;
	*" --owner-fences") words="on off" ;;
	*" --policy") words=$("$1" list 2>/dev/null | awk '/^scenarios/ { exit } /^  / { print $1 }') ;;
	*" --policies") words=$("$1" list 2>/dev/null | awk '/^scenarios/ { exit } /^  / { print $1 }') ;;
	*" --scenario") words=$("$1" list 2>/dev/null | awk '/^scenarios/ { s = 1; next } s { print $1 }') ;;
	*" --layout") words="in-record side-by-side bare bare-words own-word" ;;
	*" --workload") words=$(pfs-bench --list-workloads 2>/dev/null | awk '{ print $1 }') ;;
	*" --format") words="text json" ;;
	*" --placement") words="compact scatter" ;;
	*" --preset") words="two-socket desktop epyc graviton" ;;
	*" --costs") words="two-socket desktop epyc graviton" ;;
	*) return 1 ;;
	esac
	echo $words
}

_pfs_sim() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} values
	COMPREPLY=()
	if [ "$word" = "=" ]; then
		word=
	elif [ "$before" = "=" ]; then
		before=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	if [ "$COMP_CWORD" -eq 1 ]; then
		mapfile -t COMPREPLY < <(compgen -W "explore check progress replay weaken list run soak calibrate curves speed --help --version" -- "$word")
		return
	fi
	if values=$(_pfs_sim_values "${COMP_WORDS[0]}" "${COMP_WORDS[1]}" "$before"); then
		mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word")
		return
	fi
	case $before in
	--costs | --executions | --first | --format | --full-flags | --hot | --jobs | --labels | --layout | --machine | --memory | --memory-mib | --occupancy | --operations | --ops | --owner-fences | --page-max | --page-prealloc | --page-records | --pages | --pass-us | --placement | --policies | --policy | --preemptions | --preset | --reclaim-decay-passes | --reclaim-period-ms | --record-size | --records | --runs | --scenario | --search | --seconds | --seed | --seeds | --slice-us | --threads | --weaken | --window-us | --workload) return ;;
	--out | --save | --series | --trace)
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		return ;;
	esac
	if [[ $word == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_pfs_sim_options "${COMP_WORDS[1]}")" -- "$word")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
	fi
}

complete -o filenames -F _pfs_sim pfs-sim

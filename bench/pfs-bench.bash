# pfs-bench.bash - completion of pfs-bench for bash; made by base/describe.py.

_pfs_bench_options() {
	case $1 in
	*) echo "--policies --workloads --occupancies --apis --threads --placements --memory --layout --full-flags --huge-pages --owner-fences --page-records --pages --page-prealloc --page-max --pages-each --records --page-memory --record-size --window-ms --latency-ms --repeat-disturbed --reclaim-period-ms --reclaim-decay-passes --seed --series --trace --peer --list-policies --list-traits --list-workloads --list-workload-traits --help --version --benchmark_filter --benchmark_format --benchmark_list_tests --benchmark_min_time --benchmark_out --benchmark_out_format --benchmark_repetitions" ;;
	esac
}

# What follows an option: words; nothing for any, 1 for none.
_pfs_bench_values() {
	local words
	case "$2 $3" in
	*" --full-flags") words="on off" ;;
	*" --huge-pages") words="on off" ;;
	*" --owner-fences") words="on off" ;;
	*" --policies") words=$("$1" --list-policies 2>/dev/null | awk '{ print $1 }') ;;
	*" --workloads") words=$("$1" --list-workloads 2>/dev/null | awk '{ print $1 }') ;;
	*" --apis") words="inlined public cxx" ;;
	*" --layout") words="in-record side-by-side bare bare-words own-word" ;;
	*" --placements") words="none compact scatter" ;;
	*" --memory") words="first-touch local interleave" ;;
	*" --page-memory") words="fresh touched" ;;
	*" --peer") words="jemalloc mimalloc" ;;
	*) return 1 ;;
	esac
	echo $words
}

_pfs_bench() {
	local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} values
	COMPREPLY=()
	if [ "$word" = "=" ]; then
		word=
	elif [ "$before" = "=" ]; then
		before=${COMP_WORDS[COMP_CWORD - 2]}
	fi
	if values=$(_pfs_bench_values "${COMP_WORDS[0]}" "" "$before"); then
		mapfile -t COMPREPLY < <(compgen -W "$values" -- "$word")
		return
	fi
	case $before in
	--apis | --full-flags | --huge-pages | --latency-ms | --layout | --memory | --occupancies | --owner-fences | --page-max | --page-memory | --page-prealloc | --page-records | --pages | --pages-each | --peer | --placements | --policies | --reclaim-decay-passes | --reclaim-period-ms | --record-size | --records | --repeat-disturbed | --seed | --threads | --window-ms | --workloads) return ;;
	--series | --trace)
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
		return ;;
	esac
	if [[ $word == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$(_pfs_bench_options "")" -- "$word")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$word")
	fi
}

complete -o filenames -F _pfs_bench pfs-bench

# mix.bash - arrays, maps, subshells, pipes, traps and long strings of one bash.
declare -A count
declare -a list
for ((i = 0; i < 20000; i++)); do
	list+=("item$((i * 7919 % 10007))")
	count[k$((i % 997))]=$((${count[k$((i % 997))]:-0} + i))
done
sum=0
for key in "${!count[@]}"; do sum=$((sum + ${count[$key]})); done
text=$(printf '%s\n' "${list[@]}" | sort | uniq -c | sort -rn | head -50 | md5sum)
long=
for ((i = 0; i < 40; i++)); do long+="$i ${long:0:2000}"; done
nested=$(echo $(echo $(for i in 1 2 3 4 5; do (echo "$i$(echo "$i")"); done)))
while read -r line; do last=$line; done < <(seq 1 3000)
mapfile -t lines < <(seq 1 5000)
replaced=${long//1/one}
echo "$sum $text ${#long} $nested $last ${#lines[@]} ${#replaced}"

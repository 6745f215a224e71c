-- mix.lua - tables that grow and go, strings, coroutines, the collector at work.
local sum, lists = 0, {}
for round = 1, 20 do
	local list = {}
	for i = 1, 5000 do
		list[i] = { name = "n" .. (i * 7919 % 10007), values = { i, i * 2, tostring(i) } }
	end
	table.sort(list, function(a, b)
		if a.name ~= b.name then return a.name < b.name end
		return a.values[1] < b.values[1]
	end)
	for i, item in ipairs(list) do sum = (sum * 31 + item.values[1] * i) % 1000000007 end
	lists[round % 5] = list
end
local parts = {}
for i = 1, 50000 do parts[#parts + 1] = string.format("%d:%s", i, ("z"):rep(i % 40)) end
local text = table.concat(parts, ";"):gsub("(%d+):z", "<%1>")
local made = coroutine.wrap(function()
	for i = 1, 10000 do coroutine.yield(("c"):rep(i % 300)) end
end)
local total = 0
for _ = 1, 10000 do total = total + #made() end
collectgarbage()
print(sum, #text, total, #lists)

/*
 * mix.cc - containers, streams, exceptions, threads and shared pointers of one C++ program.
 */
#include <deque>
#include <iostream>
#include <list>
#include <map>
#include <memory>
#include <regex>
#include <sstream>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

namespace
{

struct Item {
	std::string name;
	std::vector<int> values;
	std::shared_ptr<Item> next;
};

unsigned long long fold(unsigned long long sum, unsigned long long value)
{
	return sum * 31 + value;
}

unsigned long long containers(unsigned seed)
{
	std::map<std::string, std::shared_ptr<Item>> ordered;
	std::unordered_map<int, std::list<std::string>> hashed;
	std::deque<std::unique_ptr<Item>> queue;
	for (unsigned i = 0; i < 20000; i++) {
		auto item = std::make_shared<Item>();
		item->name = "item" + std::to_string(i * seed % 7919);
		item->values.assign(i % 60, static_cast<int>(i));
		item->next = ordered[item->name];
		ordered[item->name] = item;
		hashed[static_cast<int>(i % 500)].push_back(std::string(i % 90, 'h'));
		queue.push_back(std::make_unique<Item>(*item));
		if (queue.size() > 200)
			queue.pop_front();
		if (item->next != nullptr && item->next->next != nullptr)
			item->next->next.reset();
	}
	unsigned long long sum = 0;
	for (const auto &entry : ordered)
		sum = fold(sum, entry.first.size() + entry.second->values.size());
	for (int i = 0; i < 500; i++)
		for (const auto &text : hashed[i])
			sum = fold(sum, text.size());
	return sum;
}

unsigned long long exceptions()
{
	unsigned long long caught = 0;
	for (int i = 0; i < 5000; i++) {
		try {
			std::vector<std::string> kept(static_cast<size_t>(i % 10), "kept");
			if (i % 2 != 0)
				throw std::runtime_error(std::string(size_t(i) % 300, 'e'));
			(void)kept.at(20);
		} catch (const std::exception &error) {
			caught = fold(caught, std::string(error.what()).size() % 300);
		}
	}
	return caught;
}

std::string streams()
{
	std::ostringstream out;
	for (int i = 0; i < 20000; i++)
		out << i << ' ' << i * 0.5 << ';';
	std::string text = out.str();
	std::smatch match;
	std::string head = text.substr(0, 2000);
	size_t found = 0;
	const std::regex pattern("(\\d+) (\\d+)\\.5;");
	for (; std::regex_search(head, match, pattern); head = match.suffix())
		found++;
	return std::to_string(text.size()) + " " + std::to_string(found);
}

} // namespace

int main()
{
	std::vector<unsigned long long> sums(6);
	std::vector<std::thread> threads;
	for (unsigned i = 0; i < 6; i++)
		threads.emplace_back([&sums, i] { sums[i] = containers(i * 7 + 3); });
	std::cout << exceptions() << ' ' << streams() << '\n';
	for (auto &thread : threads)
		thread.join();
	for (auto sum : sums)
		std::cout << sum << '\n';
	return 0;
}

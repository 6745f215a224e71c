// queue.h - a bounded queue between any number of producers and consumers. push and pop wait, by
// C++20's std::atomic::wait. A ticket gives each call its cell, and its turn there.
#pragma once
#include <array>
#include <atomic>
#include <cstddef>
#include <utility>

#ifndef EMPTIED
#define EMPTIED std::memory_order_release
#endif

template <typename T, std::size_t Room> class Queue {
public:
	void push(T value)
	{
		std::size_t ticket = tail.fetch_add(1, std::memory_order_relaxed);
		Cell &cell = cells[ticket % Room];
		await(cell, ticket / Room * 2);
		cell.value = std::move(value);
		cell.turn.store(ticket / Room * 2 + 1, std::memory_order_release);
		cell.turn.notify_all();
	}
	T pop()
	{
		std::size_t ticket = head.fetch_add(1, std::memory_order_relaxed);
		Cell &cell = cells[ticket % Room];
		await(cell, ticket / Room * 2 + 1);
		T value = std::move(cell.value);
		cell.turn.store(ticket / Room * 2 + 2, EMPTIED);
		cell.turn.notify_all();
		return value;
	}

private:
	struct Cell {
		T value{};
		std::atomic<std::size_t> turn{0}; // even: empty, odd: full
	};
	static void await(Cell &cell, std::size_t turn)
	{
		for (;;) {
			std::size_t seen = cell.turn.load(std::memory_order_acquire);
			if (seen == turn)
				return;
			cell.turn.wait(seen, std::memory_order_relaxed);
		}
	}
	std::array<Cell, Room> cells;
	std::atomic<std::size_t> tail{0}, head{0};
};

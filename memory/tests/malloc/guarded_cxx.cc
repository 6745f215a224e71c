/*
 * guarded_cxx.cc - makes one mistake with an object of C++'s heap, as named by the first argument.
 */
#include <cstdio>
#include <cstring>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#define HERE __attribute__((noinline))

namespace
{
struct Session {
	char name[40];
	int requests;
};

Session *kept;

HERE Session *open_session()
{
	auto *session = new Session{};
	__asm__ volatile("" : : "r"(session) : "memory");
	return session;
}

HERE void close_session(const Session *session)
{
	delete session;
	__asm__ volatile("" : : : "memory");
}

HERE void count_request(Session *session)
{
	session->requests++;
	__asm__ volatile("" : : "r"(session) : "memory");
}

/* Another thread closes it. */
void use_closed()
{
	kept = open_session();
	std::thread([] { close_session(kept); }).join();
	count_request(kept);
}

HERE void fill(std::vector<int> &numbers)
{
	int *at = numbers.data();
	for (size_t i = 0; i <= numbers.size() + 1024; i++)
		*(volatile int *)(at + i) = 1;
}

void overflow_vector()
{
	std::vector<int> numbers(100);
	fill(numbers);
}

HERE int use_reference(const int *old)
{
	return *(const volatile int *)old;
}

/* A reference into a vector that has grown since. */
void use_old_reference()
{
	std::vector<int> numbers(100);
	const int *old = &numbers[3];
	numbers.resize(1000);
	std::printf("%d\n", use_reference(old));
}

void close_twice()
{
	kept = open_session();
	close_session(kept);
	close_session(kept);
}
} // namespace

int main(int argc, char **argv)
{
	const std::string name = argc == 2 ? argv[1] : "";
	if (name == "use_closed")
		use_closed();
	else if (name == "overflow_vector")
		overflow_vector();
	else if (name == "use_old_reference")
		use_old_reference();
	else if (name == "close_twice")
		close_twice();
	else
		return 2;
	return 0;
}

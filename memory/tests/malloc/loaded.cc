/*
 * loaded.cc - a library for corner_dlopen: it allocates in constructors, destructors, handlers
 * and in thread-local objects, and hands blocks to its user.
 */
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace
{

std::vector<std::string> filled_at_start(100, std::string(300, 's'));
thread_local std::vector<std::string> of_thread;
thread_local char array_of_thread[20000];
void *constructed;

__attribute__((constructor)) void load()
{
	constructed = std::malloc(5000);
	std::memset(constructed, 7, 5000);
}

__attribute__((destructor)) void unload()
{
	std::free(constructed);
	void *large = std::malloc(1 << 20);
	std::memset(large, 1, 1 << 20);
	std::free(large);
}

} // namespace

extern "C" {
int loaded_use(int turns)
{
	array_of_thread[turns % 20000]++;
	for (int i = 0; i < turns; i++)
		of_thread.push_back(std::string(static_cast<size_t>(i) * 11, 't'));
	return filled_at_start.size() == 100 && static_cast<char *>(constructed)[4999] == 7;
}

void *loaded_block(size_t size)
{
	return std::malloc(size);
}

void loaded_free(void *block)
{
	std::free(block);
}
}

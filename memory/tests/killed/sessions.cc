/*
 * sessions.cc - an ordinary server whose memory grows: the example of docs/tutorials/killed.md. Its
 * catalogue is large and wanted, its requests are short-lived. It forgets to close the sessions of
 * clients that leave without a word.
 *
 * usage: sessions [MIB]: how much it leaks before it exits with 1; default 1024
 */
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <string>
#include <unordered_map>
#include <vector>

namespace {

struct Session {
	unsigned long client;
	unsigned char state[2000];
};

class Catalogue {
public:
	void load(unsigned count)
	{
		pages_.reserve(count);
		for (unsigned i = 0; i < count; i++)
			pages_.emplace_back(3000, static_cast<char>('a' + i % 26));
	}
	const std::string &page(unsigned long number) const
	{
		return pages_[number % pages_.size()];
	}

private:
	std::vector<std::string> pages_;
};

class Desk {
public:
	Session *open(unsigned long client)
	{
		Session *session = new Session; /* the leak's line */
		session->client = client;
		std::memset(session->state, 1, sizeof(session->state));
		sessions_[client] = session;
		return session;
	}
	void close(unsigned long client)
	{
		auto found = sessions_.find(client);
		delete found->second;
		sessions_.erase(found);
	}

private:
	std::unordered_map<unsigned long, Session *> sessions_;
};

class Server {
public:
	Server() { catalogue_.load(4000); }
	__attribute__((noinline)) void answer(unsigned long client)
	{
		desk_.open(client);
		std::string text = catalogue_.page(client) + " for " + std::to_string(client);
		bytes_ += text.size();
		if (client % 4 != 0) /* every fourth says no good-bye */
			desk_.close(client);
	}
	unsigned long bytes() const { return bytes_; }

private:
	Catalogue catalogue_;
	Desk desk_;
	unsigned long bytes_ = 0;
};

} // namespace

int main(int argc, char **argv)
{
	unsigned long most = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 1024;
	Server server;
	for (unsigned long client = 0; client / 4 * sizeof(Session) < most << 20; client++)
		server.answer(client);
	std::cerr << "sessions: " << server.bytes() << " bytes sent, and nobody killed it\n";
	return 1;
}

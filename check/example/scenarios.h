// scenarios.h - runs pfs-check for tests of any framework. CMakeLists.txt defines PFS_CHECK, the
// path of pfs-check.
#pragma once
#include <cstdio>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include <sys/wait.h>

struct Checked {
	int status; // pfs-check's exit status; -1: it did not run, or crashed
	std::string report;
};

inline Checked pfs_check(const std::string &program, const std::string &options)
{
	Checked checked{-1, ""};
	std::string command = "'" PFS_CHECK "' '" + program + "' " + options + " 2>&1";
	std::FILE *output = popen(command.c_str(), "r");
	if (output == nullptr)
		return checked;
	for (int byte; (byte = std::fgetc(output)) != EOF;)
		checked.report += static_cast<char>(byte);
	int end = pclose(output);
	if (WIFEXITED(end))
		checked.status = WEXITSTATUS(end);
	return checked;
}

inline std::vector<std::string> scenarios(const std::string &program)
{
	const Checked list = pfs_check(program, "--list");
	if (list.status != 0)
		throw std::runtime_error(list.report);
	std::vector<std::string> names;
	std::istringstream lines(list.report);
	for (std::string name; std::getline(lines, name);)
		names.push_back(name);
	return names;
}

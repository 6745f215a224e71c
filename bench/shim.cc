// shim.cc - shim.h on top of Google Benchmark, which is C++.
#include "shim.h"

#include <benchmark/benchmark.h>

#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

struct pfs_shim_state {
	benchmark::State &state;
};

namespace
{

std::atomic<std::uint64_t> error_count;

// Keys that the JSON writer uses itself: a counter of that name makes a key twice.
/* clang-format off */
const char *const reserved[] = {
	"name", "family_index", "per_family_instance_index", "run_name", "run_type",
	"repetitions", "repetition_index", "threads", "aggregate_name", "aggregate_unit",
	"iterations", "real_time", "cpu_time", "time_unit", "cpu_coefficient",
	"real_coefficient", "big_o", "rms", "label", "error_occurred", "error_message",
	"allocs_per_iter", "max_bytes_used", "skipped", "skip_message",
};
/* clang-format on */

bool is_reserved(const char *name)
{
	for (const char *word : reserved)
		if (std::strcmp(word, name) == 0)
			return true;
	return false;
}

bool file_written = true;

// A reporter of --benchmark_out; the library does not look whether its bytes were taken.
template <class Reporter> class Checked : public Reporter
{
      public:
	using Reporter::Reporter;
	void Finalize() override
	{
		Reporter::Finalize();
		file_written = file_written && this->GetOutputStream().flush().good();
	}
};

// The threads that a benchmark's name states. For the library each benchmark has one (main.c).
std::int64_t threads_of(const benchmark::BenchmarkName &name)
{
	static const char word[] = "/threads:";
	const std::size_t at = name.function_name.find(word);

	if (at == std::string::npos)
		return 1;
	return std::strtoll(name.function_name.c_str() + at + sizeof(word) - 1, nullptr, 10);
}

// The library computes statistics over counters, and 0 / 0 is one of them: drop it here, too.
class BenchJson : public Checked<benchmark::JSONReporter>
{
      public:
	void ReportRuns(const std::vector<Run> &runs) override
	{
		std::vector<Run> written = runs;
		for (Run &run : written) {
			run.threads = threads_of(run.run_name);
			for (auto at = run.counters.begin(); at != run.counters.end();)
				at = std::isfinite(at->second.value) ? std::next(at)
								     : run.counters.erase(at);
		}
		benchmark::JSONReporter::ReportRuns(written);
	}
};

// What the flags ask for; the library keeps its own reading of them to itself.
struct Outputs {
	bool json_display = false;
	bool has_file = false;
	std::string file_format = "json";
};
Outputs outputs;

std::unique_ptr<benchmark::BenchmarkReporter> make_file_reporter(const std::string &format)
{
	using benchmark::ConsoleReporter;
	if (format == "console")
		return std::make_unique<Checked<ConsoleReporter>>(ConsoleReporter::OO_None);
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations" // the format has no other reporter
	if (format == "csv")
		return std::make_unique<Checked<benchmark::CSVReporter>>();
#pragma GCC diagnostic pop
	return std::make_unique<BenchJson>();
}

void read_outputs(int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		const std::string flag = argv[i];
		if (flag.rfind("--benchmark_format=", 0) == 0)
			outputs.json_display = flag == "--benchmark_format=json";
		if (flag.rfind("--benchmark_out_format=", 0) == 0)
			outputs.file_format = flag.substr(flag.find('=') + 1);
		if (flag.rfind("--benchmark_out=", 0) == 0)
			outputs.has_file = flag != "--benchmark_out=";
	}
}

} // namespace

extern "C" {

void pfs_shim_register(const char *name, void (*body)(pfs_shim_state *, void *), void *user)
{
	benchmark::RegisterBenchmark(name, [body, user](benchmark::State &state) {
		pfs_shim_state wrapped = { state };
		body(&wrapped, user);
	})->UseManualTime();
}

bool pfs_shim_keep_running_batch(pfs_shim_state *self, int64_t count)
{
	return self->state.KeepRunningBatch(count);
}

void pfs_shim_iteration_time(pfs_shim_state *self, double seconds)
{
	self->state.SetIterationTime(seconds);
}

int64_t pfs_shim_iterations_wanted(const pfs_shim_state *self)
{
	return self->state.max_iterations;
}

bool pfs_shim_counter(pfs_shim_state *self, const char *name, double value)
{
	if (!std::isfinite(value) || is_reserved(name))
		return false;
	self->state.counters[name] = benchmark::Counter(value);
	return true;
}

void pfs_shim_label(pfs_shim_state *self, const char *label)
{
	self->state.SetLabel(label);
}

void pfs_shim_error(pfs_shim_state *self, const char *message)
{
	error_count.fetch_add(1, std::memory_order_relaxed);
	self->state.SkipWithError(message);
}

void pfs_shim_context(const char *key, const char *value)
{
	benchmark::AddCustomContext(key, value);
}

void pfs_shim_initialize(int *argc, char **argv)
{
	read_outputs(*argc, argv);
	benchmark::Initialize(argc, argv);
}

size_t pfs_shim_run(void)
{
	BenchJson display;
	std::unique_ptr<benchmark::BenchmarkReporter> file;
	if (outputs.has_file)
		file = make_file_reporter(outputs.file_format);
	return benchmark::RunSpecifiedBenchmarks(outputs.json_display ? &display : nullptr,
						 file.get()); // NULL: the library's own
}

bool pfs_shim_written(void)
{
	return std::cout.flush().good() && std::fflush(stdout) == 0 && file_written;
}

uint64_t pfs_shim_errors(void)
{
	return error_count.load(std::memory_order_relaxed);
}

void pfs_shim_shutdown(void)
{
	benchmark::Shutdown();
}

} // extern "C"

// shim.cc - the only C++ of the project: shim.h on top of Google Benchmark.
#include "shim.h"

#include <benchmark/benchmark.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>
#include <utility>
#include <vector>

using Body = void (*)(pfs_shim_state *, void *);
using Hook = void (*)(const pfs_shim_state *, void *);
// The class moved from internal:: to benchmark:: in later versions; its pointer type did not.
using Registration = decltype(benchmark::RegisterBenchmark(
	"", static_cast<void (*)(benchmark::State &)>(nullptr)));

struct pfs_shim_state {
	benchmark::State *state;      // NULL in hooks
	const benchmark::State *seen; // never NULL
};

struct pfs_shim_case {
	Registration registration;
	void *user;
};

namespace
{

constexpr std::size_t slot_max = 1024;
struct Slot {
	Hook set_up;
	Hook tear_down;
	void *user;
};
std::array<Slot, slot_max> slots;
std::size_t slot_count;
std::atomic<std::uint64_t> error_count;

// Hooks are bare function pointers in 1.7.1: one pair of functions for each slot.
template <std::size_t I> void set_up_slot(const benchmark::State &state)
{
	pfs_shim_state wrapped = { nullptr, &state };
	if (slots[I].set_up != nullptr)
		slots[I].set_up(&wrapped, slots[I].user);
}

template <std::size_t I> void tear_down_slot(const benchmark::State &state)
{
	pfs_shim_state wrapped = { nullptr, &state };
	if (slots[I].tear_down != nullptr)
		slots[I].tear_down(&wrapped, slots[I].user);
}

using Trampoline = void (*)(const benchmark::State &);
template <std::size_t... I> constexpr auto set_up_table(std::index_sequence<I...>)
{
	return std::array<Trampoline, sizeof...(I)>{ set_up_slot<I>... };
}
template <std::size_t... I> constexpr auto tear_down_table(std::index_sequence<I...>)
{
	return std::array<Trampoline, sizeof...(I)>{ tear_down_slot<I>... };
}
constexpr auto set_ups = set_up_table(std::make_index_sequence<slot_max>{});
constexpr auto tear_downs = tear_down_table(std::make_index_sequence<slot_max>{});

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

// The library computes statistics over counters, and 0 / 0 is one of them: drop it here, too.
class FiniteJson : public Checked<benchmark::JSONReporter>
{
      public:
	void ReportRuns(const std::vector<Run> &runs) override
	{
		std::vector<Run> finite = runs;
		for (Run &run : finite) {
			for (auto at = run.counters.begin(); at != run.counters.end();)
				at = std::isfinite(at->second.value) ? std::next(at)
								     : run.counters.erase(at);
		}
		benchmark::JSONReporter::ReportRuns(finite);
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
	return std::make_unique<FiniteJson>();
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

benchmark::Counter::Flags to_flags(std::uint32_t flags)
{
	using benchmark::Counter;
	auto all = Counter::kDefaults;
	if (flags & PFS_SHIM_RATE)
		all = all | Counter::kIsRate;
	if (flags & PFS_SHIM_AVERAGE_THREADS)
		all = all | Counter::kAvgThreads;
	if (flags & PFS_SHIM_PER_ITERATION)
		all = all | Counter::kAvgIterations;
	if (flags & PFS_SHIM_TIMES_ITERATIONS)
		all = all | Counter::kIsIterationInvariant;
	if (flags & PFS_SHIM_INVERT)
		all = all | Counter::kInvert;
	return all;
}

} // namespace

extern "C" {

pfs_shim_case *pfs_shim_register(const char *name, Body body, void *user)
{
	auto registration = benchmark::RegisterBenchmark(name, [body, user](benchmark::State &s) {
		pfs_shim_state wrapped = { &s, &s };
		body(&wrapped, user);
	});
	// Lives as long as the library's own registration: to the end of the process.
	static std::vector<std::unique_ptr<pfs_shim_case>> all;
	all.push_back(std::make_unique<pfs_shim_case>(pfs_shim_case{ registration, user }));
	return all.back().get();
}

void pfs_shim_case_arg(pfs_shim_case *self, int64_t value)
{
	self->registration->Arg(value);
}

void pfs_shim_case_args(pfs_shim_case *self, const int64_t *values, size_t count)
{
	self->registration->Args(std::vector<int64_t>(values, values + count));
}

void pfs_shim_case_range(pfs_shim_case *self, int64_t low, int64_t high, int32_t multiplier)
{
	self->registration->RangeMultiplier(multiplier)->Range(low, high);
}

void pfs_shim_case_dense_range(pfs_shim_case *self, int64_t low, int64_t high, int32_t step)
{
	self->registration->DenseRange(low, high, step);
}

void pfs_shim_case_args_product(pfs_shim_case *self, const int64_t *const *lists,
				const size_t *counts, size_t list_count)
{
	std::vector<std::vector<int64_t>> all;
	for (size_t i = 0; i < list_count; i++)
		all.emplace_back(lists[i], lists[i] + counts[i]);
	self->registration->ArgsProduct(all);
}

void pfs_shim_case_arg_names(pfs_shim_case *self, const char *const *names, size_t count)
{
	self->registration->ArgNames(std::vector<std::string>(names, names + count));
}

void pfs_shim_case_threads(pfs_shim_case *self, int32_t threads)
{
	self->registration->Threads(threads);
}

void pfs_shim_case_thread_range(pfs_shim_case *self, int32_t low, int32_t high)
{
	self->registration->ThreadRange(low, high);
}

bool pfs_shim_case_hooks(pfs_shim_case *self, Hook set_up, Hook tear_down)
{
	if (slot_count == slot_max)
		return false;
	slots[slot_count] = { set_up, tear_down, self->user };
	self->registration->Setup(set_ups[slot_count])->Teardown(tear_downs[slot_count]);
	slot_count++;
	return true;
}

void pfs_shim_case_iterations(pfs_shim_case *self, int64_t iterations)
{
	self->registration->Iterations(iterations);
}

void pfs_shim_case_min_time(pfs_shim_case *self, double seconds)
{
	self->registration->MinTime(seconds);
}

void pfs_shim_case_repetitions(pfs_shim_case *self, int32_t repetitions)
{
	self->registration->Repetitions(repetitions);
}

void pfs_shim_case_unit(pfs_shim_case *self, pfs_shim_unit unit)
{
	static const benchmark::TimeUnit units[] = { benchmark::kNanosecond,
						     benchmark::kMicrosecond,
						     benchmark::kMillisecond, benchmark::kSecond };
	self->registration->Unit(units[unit]);
}

void pfs_shim_case_manual_time(pfs_shim_case *self)
{
	self->registration->UseManualTime();
}

void pfs_shim_case_real_time(pfs_shim_case *self)
{
	self->registration->UseRealTime();
}

void pfs_shim_case_process_cpu_time(pfs_shim_case *self)
{
	self->registration->MeasureProcessCPUTime();
}

void pfs_shim_case_report_aggregates_only(pfs_shim_case *self, bool only)
{
	self->registration->ReportAggregatesOnly(only);
}

bool pfs_shim_keep_running(pfs_shim_state *self)
{
	return self->state->KeepRunning();
}

bool pfs_shim_keep_running_batch(pfs_shim_state *self, int64_t count)
{
	return self->state->KeepRunningBatch(count);
}

void pfs_shim_pause(pfs_shim_state *self)
{
	self->state->PauseTiming();
}

void pfs_shim_resume(pfs_shim_state *self)
{
	self->state->ResumeTiming();
}

void pfs_shim_iteration_time(pfs_shim_state *self, double seconds)
{
	self->state->SetIterationTime(seconds);
}

int64_t pfs_shim_range(const pfs_shim_state *self, size_t position)
{
	return self->seen->range(position);
}

int32_t pfs_shim_threads(const pfs_shim_state *self)
{
	return self->seen->threads();
}

int32_t pfs_shim_thread_index(const pfs_shim_state *self)
{
	return self->seen->thread_index();
}

int64_t pfs_shim_iterations(const pfs_shim_state *self)
{
	return self->seen->iterations();
}

int64_t pfs_shim_iterations_wanted(const pfs_shim_state *self)
{
	return self->seen->max_iterations;
}

bool pfs_shim_counter(pfs_shim_state *self, const char *name, double value, uint32_t flags)
{
	if (!std::isfinite(value) || is_reserved(name))
		return false;
	auto thousand = flags & PFS_SHIM_BINARY_UNITS ? benchmark::Counter::kIs1024
						      : benchmark::Counter::kIs1000;
	self->state->counters[name] = benchmark::Counter(value, to_flags(flags), thousand);
	return true;
}

void pfs_shim_items(pfs_shim_state *self, int64_t items)
{
	self->state->SetItemsProcessed(items);
}

void pfs_shim_bytes(pfs_shim_state *self, int64_t bytes)
{
	self->state->SetBytesProcessed(bytes);
}

void pfs_shim_label(pfs_shim_state *self, const char *label)
{
	self->state->SetLabel(label);
}

void pfs_shim_error(pfs_shim_state *self, const char *message)
{
	error_count.fetch_add(1, std::memory_order_relaxed);
	self->state->SkipWithError(message);
}

bool pfs_shim_failed(const pfs_shim_state *self)
{
	return self->seen->error_occurred();
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
	FiniteJson display;
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

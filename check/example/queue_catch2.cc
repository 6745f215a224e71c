// queue_catch2.cc - each scenario of queue_check.cc is a section of a Catch2 test, version 2 or 3.
#include "scenarios.h"

#if __has_include(<catch2/catch_all.hpp>)
#include <catch2/catch_all.hpp>
#else
#include <catch2/catch.hpp>
#endif

TEST_CASE("no schedule of the queue fails")
{
	const std::string scenario = GENERATE(from_range(scenarios(PROGRAM)));
	DYNAMIC_SECTION(scenario)
	{
		const Checked checked = pfs_check(PROGRAM, "--complete --scenario=" + scenario);
		INFO(checked.report);
		CHECK(checked.status == 0);
	}
}

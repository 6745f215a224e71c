// queue_gtest.cc - each scenario of queue_check.cc is a test of GoogleTest.
#include "scenarios.h"

#include <gtest/gtest.h>

class QueueScenario : public testing::TestWithParam<std::string> {};

TEST_P(QueueScenario, HasNoFailingSchedule)
{
	const Checked checked = pfs_check(PROGRAM, "--complete --scenario=" + GetParam());
	EXPECT_EQ(checked.status, 0) << checked.report;
}

INSTANTIATE_TEST_SUITE_P(PfsCheck, QueueScenario, testing::ValuesIn(scenarios(PROGRAM)),
			 [](const auto &scenario) { return scenario.param; });

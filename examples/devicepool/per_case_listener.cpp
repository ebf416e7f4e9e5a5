// VT_POOL_PER_CASE=1: tells the pools where a test case starts.
#include <doctest/doctest.h>

#include "device_pool.h"
#include "switches.h"

namespace {

struct PerCasePools : doctest::IReporter {
    explicit PerCasePools(const doctest::ContextOptions&) {}

    void test_case_start(const doctest::TestCaseData&) override {
        if (devicepool::GetSwitches().per_case) devicepool::StartCase();
    }

    void report_query(const doctest::QueryData&) override {}
    void test_run_start() override {}
    void test_run_end(const doctest::TestRunStats&) override {}
    void test_case_reenter(const doctest::TestCaseData&) override {}
    void test_case_end(const doctest::CurrentTestCaseStats&) override {}
    void test_case_exception(const doctest::TestCaseException&) override {}
    void subcase_start(const doctest::SubcaseSignature&) override {}
    void subcase_end() override {}
    void log_assert(const doctest::AssertData&) override {}
    void log_message(const doctest::MessageData&) override {}
    void test_case_skipped(const doctest::TestCaseData&) override {}
};

REGISTER_LISTENER("per_case_pools", 1, PerCasePools);

}  // namespace

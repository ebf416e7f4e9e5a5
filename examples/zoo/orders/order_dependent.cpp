// A suite of as many cases as wanted, one of which, the victim, depends on what ran before it: what a bisection is
// tried on. All of it is set by variables, so that one binary serves for every shape of the fault.
//
//   SUITE_CASES=13        how many cases there are: "case 0001", "case 0002", ...
//   SUITE_VICTIM=13       the victim, counted from 1 in file order
//   SUITE_POLLUTERS=3,7   it is red once all of these ran before it. `3,7;9`: or once 9 did. Empty: never by that
//   SUITE_CLEANERS=9      it is green again when one of these ran after the last polluter
//   SUITE_SETTERS=2       it is red unless one of these ran before it
//   SUITE_HOW=fail        how it is red: fail, crash, hang, quit (_exit(0)), exit (the exit code alone), output (a NaN
//                         in out.bin), kill (the parent process), two-ways (a crash; with some of the polluters a
//                         failure)
//   SUITE_RATE=1          how likely it is red, when it is; with ZOO_COUNTER and ZOO_RED_RUNS in which of these runs
//   SUITE_ALWAYS=5        these cases always fail
//   SUITE_LOG=FILE        a line for each run: the cases that it began
#include "zoo.h"

#include <cmath>
#include <deque>
#include <set>
#include <sstream>
#include <vector>

namespace {

using Cases = std::set<long>;

Cases cases_in(const std::string& list) {
    Cases found;
    std::istringstream words(list);
    for (std::string word; std::getline(words, word, ',');)
        if (!word.empty()) found.insert(std::stol(word));
    return found;
}

std::vector<Cases> sets_in(const std::string& lists) {
    std::vector<Cases> found;
    std::istringstream words(lists);
    for (std::string word; std::getline(words, word, ';');)
        if (!word.empty()) found.push_back(cases_in(word));
    return found;
}

struct Suite {
    const long victim = zoo::number("SUITE_VICTIM", 13);
    const std::vector<Cases> polluters = sets_in(zoo::text("SUITE_POLLUTERS"));
    const Cases cleaners = cases_in(zoo::text("SUITE_CLEANERS"));
    const Cases setters = cases_in(zoo::text("SUITE_SETTERS"));
    const Cases always = cases_in(zoo::text("SUITE_ALWAYS"));
    const std::string how = zoo::text("SUITE_HOW", "fail");
    const double rate = std::stod(zoo::text("SUITE_RATE", "1"));
    Cases ran;       // since the last cleaner
    bool set = false;  // one of the setters ran
};

Suite& suite() {
    static Suite only;
    return only;
}

int exit_code = 0;
struct AtExit {
    ~AtExit() {
        if (exit_code != 0) _exit(exit_code);
    }
} at_exit;

bool is_polluted() {
    const Suite& all = suite();
    for (const Cases& together : all.polluters) {
        bool every = true;
        for (long one : together) every = every && all.ran.count(one) > 0;
        if (every) return true;
    }
    return !all.setters.empty() && !all.set;
}

bool is_polluted_in_part() {
    const Suite& all = suite();
    for (const Cases& together : all.polluters)
        for (long one : together)
            if (all.ran.count(one) > 0) return true;
    return false;
}

void write_output(float value) {
    const std::string folder = zoo::text("POOLDIAG_OUTPUT_DIR", ".");
    std::FILE* file = std::fopen((folder + "/out.bin").c_str(), "wb");
    REQUIRE(file != nullptr);
    const std::vector<float> values(64, value);
    REQUIRE(std::fwrite(values.data(), sizeof(float), values.size(), file) == values.size());
    std::fclose(file);
}

bool is_unlucky() {
    return zoo::text("ZOO_COUNTER").empty() ? zoo::chance() < suite().rate : zoo::unlucky();
}

void be_victim() {
    const std::string& how = suite().how;
    const bool red = is_polluted() && (suite().rate >= 1 || is_unlucky());
    if (how == "output") write_output(red ? std::nanf("") : 1.0F);
    if (red && how == "crash") zoo::segfault();
    if (red && how == "hang") zoo::linger();
    if (red && how == "quit") _exit(0);
    if (red && how == "exit") exit_code = 3;
    if (red && how == "kill") {
        kill(getppid(), SIGKILL);
        zoo::linger();
    }
    if (how == "two-ways") {
        if (red) zoo::segfault();
        CHECK(!is_polluted_in_part());
    }
    CHECK(!(red && how == "fail"));
}

void log_case(long number) {
    const std::string path = zoo::text("SUITE_LOG");
    if (path.empty()) return;
    static bool first = true;
    const std::string text = (first ? "\n" : " ") + std::to_string(number);
    first = false;
    const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    REQUIRE(write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size()));
    close(file);
}

void run(long number) {
    Suite& all = suite();
    log_case(number);
    if (number == all.victim) be_victim();
    CHECK(all.always.count(number) == 0);
    if (all.cleaners.count(number) > 0) all.ran.clear();
    all.ran.insert(number);
    all.set = all.set || all.setters.count(number) > 0;
}

long running = 0;  // the case that doctest runs now

// doctest's cases are functions without arguments: the line that each is registered with says which one runs.
struct Listener : doctest::IReporter {
    explicit Listener(const doctest::ContextOptions&) {}
    void report_query(const doctest::QueryData&) override {}
    void test_run_start() override {}
    void test_run_end(const doctest::TestRunStats&) override {}
    void test_case_start(const doctest::TestCaseData& data) override { running = static_cast<long>(data.m_line); }
    void test_case_reenter(const doctest::TestCaseData&) override {}
    void test_case_end(const doctest::CurrentTestCaseStats&) override {}
    void test_case_exception(const doctest::TestCaseException&) override {}
    void subcase_start(const doctest::SubcaseSignature&) override {}
    void subcase_end() override {}
    void log_assert(const doctest::AssertData&) override {}
    void log_message(const doctest::MessageData&) override {}
    void test_case_skipped(const doctest::TestCaseData&) override {}
};
DOCTEST_REGISTER_LISTENER("which case", 1, Listener);

int register_all() {
    static std::deque<std::string> names;
    for (long number = 1; number <= zoo::number("SUITE_CASES", 13); ++number) {
        char name[32];
        std::snprintf(name, sizeof name, "case %04ld", number);
        names.emplace_back(name);
        const doctest::detail::TestCase made([] { run(running); }, "suite.cpp", static_cast<unsigned>(number),
                                             doctest_detail_test_suite_ns::getCurrentTestSuite());
        doctest::detail::regTest(doctest::detail::TestCase(made) * names.back().c_str());
    }
    return 0;
}
const int registered = register_all();

}  // namespace

// Trap: names. Each case prints `ran#<index>` on stderr and is green, but for the one whose index ZOO_FAIL names. Who
// takes a name for a pattern, a path, markup, an option, a line or an identity runs the wrong cases, writes to the
// wrong place or shows something else than the name; and a filter that matches nothing says SUCCESS. Index 46 never
// runs: doctest keeps one case a (file, line, name), so that the second of two from one macro is dropped without a
// word. The two that print 34 share all that a listing shows, and 35 is written in XML as 18 is.
#include "zoo.h"

#include <cstdint>

// clang-format off
#define NAMED(index, name) TEST_CASE(name) { zoo::ran(index); CHECK(zoo::number("ZOO_FAIL", 0) != index); }
#define NAMED_TWICE(first, second, name) NAMED(first, name) NAMED(second, name)
#define TEN "0123456789"
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN

NAMED(1, "plain")
NAMED(2, "[tag] (round) {curly} <angle>")
NAMED(3, "[red]x[/red] [link=http://example.invalid]y[/link] [/]")
NAMED(4, "it's 'single'")
NAMED(5, "\"double\" quotes")
NAMED(6, "“curly” «quotes»")
NAMED(7, "commas, all,over,")
NAMED(8, "middle\\backslash")
NAMED(9, "trailing backslash\\")
NAMED(10, "backslash comma \\, end")
NAMED(11, "any * thing")
NAMED(12, "any other thing")
NAMED(13, "what? now")
NAMED(14, "whatX now")
NAMED(15, "Letter Case")
NAMED(16, "letter case")
NAMED(17, "LETTER CASE")
NAMED(18, "\x1b[31mred\x1b[0m")
NAMED(19, "title\x1b]0;another title\x07 set")
NAMED(20, "FAILED\rgreen")
NAMED(21, "invalid \xff\xfe utf-8 \xc3(")
NAMED(22, "control \x01\x02\x7f bytes")
NAMED(23, "line one\nline two")
NAMED(24, "tab\tinside")
NAMED(25, "  leading spaces")
NAMED(26, "trailing spaces  ")
NAMED(27, "duplicate")
NAMED(28, "duplicate")
TEST_SUITE("other suite") { NAMED(29, "duplicate") }
NAMED(30, "")

template <typename T> constexpr int index_of = 31;  // int
template <> constexpr int index_of<char> = 32;
template <> constexpr int index_of<float> = 33;
TEST_CASE_TEMPLATE("template", T, int, char, float) {
    zoo::ran(index_of<T>);
    CHECK(zoo::number("ZOO_FAIL", 0) != index_of<T>);
}
TEST_CASE_TEMPLATE("twin", T, int, std::int32_t) {
    zoo::ran(sizeof(T) == sizeof(int) ? 34 : 0);  // one type, so one function: nothing tells them apart
    CHECK(zoo::number("ZOO_FAIL", 0) != 34);
}

NAMED(35, "\\x1B[31mred\\x1B[0m")
NAMED(36, "--help -dt-no-run=1")
NAMED(37, "$HOME ${PATH} $(id)")
NAMED(38, "a; b && c | d > e")
NAMED(39, "`backticks` !history")
NAMED(40, HUNDRED HUNDRED HUNDRED)
NAMED(41, "naïve 漢字 🙂 e\u0301")
NAMED(42, "bidi \u202eoverride")
NAMED(43, "<TestCase name=\"forged\"/> &amp; ]]>")
NAMED(44, "100% %s %n {0} {name}")
NAMED_TWICE(45, 46, "lost twin")
NAMED(47, "../../up/and.away")
NAMED(48, "# comment = \"x\"")
TEST_SUITE("suite, [x] \"q\"") { NAMED(49, "in a hostile suite") }
NAMED(50, "last")

"""Markdown, read back by a parser of GitHub's kind: what is ours is structure, what is from outside is text."""

import html
import re
from collections.abc import Iterator

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from pooldiag.model.arms import ProfilesReport
from pooldiag.profiles import PROFILES
from pooldiag.render import Page, render, shell_line, visible
from pooldiag.render.blocks import (
    Answer,
    Blocks,
    Cell,
    Column,
    Command,
    Fact,
    Facts,
    Items,
    Section,
    Table,
    Text,
    Tone,
)
from pooldiag.render.markdown import render as laid_out
from tests.render.attribute_samples import HOSTILE, SAMPLES
from tests.render.samples import EVERY, GOLDEN, MARKDOWN, golden_markdown
from tests.render.test_table import typed

PARSER = MarkdownIt("gfm-like", {"html": True})
assert PARSER.linkify is not None
PARSER.linkify.set({"fuzzy_link": False}).add("//", None)  # GitHub links neither `test.rs` nor `//test.rs`
OURS = re.compile(r"<details>\n<summary>[^\n]*</summary>\n?|</details>\n?|<!-- -->|</?span>")
LINKING = re.compile(r"@\w|#\d|gh-\d|https?://|\bwww\.|\b[0-9a-f]{40}\b|:[\w+-]+:|\$\w", re.IGNORECASE)
PEOPLE_AND_ISSUES = (
    "@ada a@b.example #12 o/r#12 GH-7 https://x.example www.x.example ftp://x.example :tada: $x$ " + "ab" * 20
)
TRICKS = (
    PEOPLE_AND_ISSUES,
    HOSTILE,
    "| a | b |",
    "\\| \\\\| `|`",
    "*a* **b** _c_ __d__ ~~e~~ `f` ``` g",
    "# h",
    "## h ##",
    "- [ ] i",
    "+ j",
    "1. k",
    "12) l",
    "> m",
    "===",
    "---",
    "***",
    "```sh",
    "~~~",
    "[n](http://x.example) ![o](p) [q]: r [^1]",
    "<b>s</b> <!-- --> </details> <img src=x onerror=y> <https://x.example>",
    "&amp; &#35;12 &lt;",
    "a\nb\r\n\nc\x1b[31m\u202e",
    "\\",
    "a  b",
    "snake_case _x_ x__y",
)


def parsed(blocks: Blocks, page: Page | None = None) -> list[Token]:
    return PARSER.parse(laid_out(blocks, page or Page()))


def texts(tokens: list[Token]) -> Iterator[str]:
    """Yield the text of each inline block, as a reader sees it."""
    for token in tokens:
        if token.type == "inline":
            yield "".join(child.content for child in token.children or () if child.type in {"text", "code_inline"})


def nodes(tokens: list[Token]) -> Iterator[Token]:
    yield from tokens
    for token in tokens:
        yield from token.children or ()


def seen(text: str) -> str:
    return visible(text).strip()


@pytest.mark.parametrize("text", TRICKS)
@pytest.mark.parametrize("place", ["item", "text", "title", "answer", "fact", "label", "cell", "purpose"])
def test_what_comes_from_outside_is_text_wherever_it_stands(place: str, text: str) -> None:
    blocks: dict[str, Blocks] = {
        "item": (Items((text,)),),
        "text": (Text(text),),
        "title": (Section(title=text, blocks=(Text("x"),)),),
        "answer": (Answer(tone=Tone.RED, title=text, lines=(text,), points=(text,), interruption=text),),
        "fact": (
            Facts((Fact(text, text), Fact("", text))),
            Facts((Fact("x", text, (Items((text,)), Facts((Fact(text, text),)))),)),
        ),
        "label": (Section(title=text, blocks=(Text("x"),), label=True),),
        "cell": (Table(columns=(Column(text),), rows=((Cell(text),),), total=(Cell(text),), remarks=(text,)),),
        "purpose": (Command(text, "true"),),
    }
    tokens = parsed(blocks[place])
    read = list(texts(tokens))
    assert read
    for line in read:
        assert line in {"x", seen(text), f"{seen(text)}:", f"{seen(text)}: {seen(text)}", f"x: {seen(text)}"}
    found = {node.type.removesuffix("_open").removesuffix("_close") for node in nodes(tokens)}
    assert not found & {"link", "image", "code_block", "html_block", "code_inline", "em", "s", "hr", "blockquote"}
    assert not [node for node in nodes(tokens) if node.type == "text" and LINKING.search(node.content)]


@settings(max_examples=150, deadline=None)
@given(
    st.text(st.characters(exclude_categories=())),
    st.text(st.sampled_from("|\\`*_[]()<>#~&!@:-+=.$ 1ab\n"), max_size=12),
)
def test_any_text_is_read_as_it_was_written(anything: str, marks: str) -> None:
    for text in (anything, marks, f"{marks}x{marks}"):
        if seen(text):
            blocks = (Items((text,)), Table(columns=(Column("c"),), rows=((Cell(text),),)))
            assert list(texts(parsed(blocks))) == [seen(text), "c", seen(text)]


@pytest.mark.parametrize("text", TRICKS)
def test_a_folded_section_says_its_title_and_ends(text: str) -> None:
    tokens = parsed((Section(title=text, blocks=(Items((text,)),), detail=True), Text("behind")))
    first, last = (token.content for token in tokens if token.type == "html_block")
    title = re.fullmatch(r"<details>\n<summary>(.*)</summary>\n?", first)
    assert title is not None
    assert html.unescape(re.sub("<!-- -->|</?span>", "", title[1])) == visible(text)
    assert not LINKING.search(re.sub("<[^>]*>", "\0", title[1]))
    assert last.strip() == "</details>"
    assert list(texts(tokens)) == [seen(text), "behind"]


@pytest.mark.parametrize("line", ["true", "echo '```'", "printf '`````\n```\n'", "echo \x1b[31m'", "cat <<X\n# a\n\nX"])
def test_a_command_stands_as_the_shell_takes_it(line: str) -> None:
    (fence,) = (token for token in parsed((Command("Try", line),)) if token.type == "fence")
    assert (fence.info, fence.content) == ("sh", f"{shell_line(line)}\n")
    assert "\x1b" not in fence.content


def test_columns_are_aligned_and_show_all_that_there_is() -> None:
    columns = (Column("a"), Column("n", right=True), Column("w", wide=True))
    table = Table(
        columns=columns,
        rows=((Cell("x", Tone.RED, ": y"), Cell("1"), Cell("z")),),
        total=(Cell("t"), Cell("1"), Cell("")),
    )
    tokens = parsed((table,))
    heads = [token.attrs.get("style") for token in tokens if token.type == "th_open"]
    assert heads == ["text-align:left", "text-align:right", "text-align:left"]
    assert list(texts(tokens)) == ["a", "n", "w", "x: y", "1", "z", "t", "1", ""]


@pytest.mark.parametrize("name", EVERY)
def test_every_report_has_its_answer_first_its_commands_whole_and_no_markup_but_ours(name: str) -> None:
    tokens = PARSER.parse(render(EVERY[name], form="markdown", page=Page()))
    headings = [token.tag for token in tokens if token.type == "heading_open"]
    assert headings[0] == "h2"
    assert headings.count("h2") == 1
    assert typed(EVERY[name]) <= {token.content.rstrip("\n") for token in tokens if token.type == "fence"}
    raw = [node.content for node in nodes(tokens) if node.type in {"html_block", "html_inline"}]
    assert all(OURS.fullmatch(content) for content in raw)
    assert raw.count("</details>\n") + raw.count("</details>") == sum(one.startswith("<details>") for one in raw)
    assert not {node.type for node in nodes(tokens)} & {"link_open", "image", "em_open", "s_open", "hr", "code_block"}


@pytest.mark.parametrize("name", sorted(PROFILES))
def test_a_profile_is_told_whole(name: str) -> None:
    report = ProfilesReport(profiles=(PROFILES[name],), whole=True)
    read = "".join(texts(PARSER.parse(render(report, form="markdown", page=Page()))))
    for arm in PROFILES[name].arms:
        assert str(arm.role) in read
        assert all(f"{variable}=" in read for variable, _ in arm.environment.set)
        assert (arm.source or "") in read


def test_long_parts_are_folded_and_what_an_answer_rests_on_is_not() -> None:
    text = render(SAMPLES["fact"], form="markdown", page=Page())
    assert "<summary>Ruled out</summary>" in text
    assert "### Witnesses\n\n- fact guard: SIGSEGV" in text
    assert "### Not asked" in text
    assert "### Not established" in render(SAMPLES["loud"], form="markdown", page=Page())


def test_an_open_answer_reads_as_it_does_on_a_terminal() -> None:
    tokens = PARSER.parse(render(SAMPLES["few-switches"], form="markdown", page=Page()))
    title, seen_there, left, decides, *_ = texts(tokens)
    assert title == "Red, not settled"
    assert seen_there.startswith("Red with the pool, green without its free list (0/2), with a pool a case (0/2) and")
    assert left.startswith("Which way is not settled: read of stale bytes of an earlier case, block reuse across")
    assert decides == "What would decide: serial, poison-n."


@pytest.mark.parametrize("name", MARKDOWN)
def test_looks_as_it_was_looked_at(name: str) -> None:
    golden = (GOLDEN / f"{name}.md").read_text(encoding="utf-8")
    assert golden_markdown(name) == golden, "look at it, then: .venv/bin/python -m tests.render.samples --golden"

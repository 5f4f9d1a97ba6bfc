"""Notes in Markdown: what is understood, and that nothing of a stranger's note becomes part of the page."""

from __future__ import annotations

from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from plaidwork.core.markdown import LONGEST, MOST_LINES, MOST_ROWS, html_of_markdown, is_address

TAGS = {
    "p", "br", "strong", "em", "s", "code", "pre", "a", "ul", "ol", "li", "blockquote", "table", "thead", "tbody", "tr", "th", "td",
    "hr", "h4", "h5", "h6",
}  # fmt: skip


class Page(HTMLParser):
    """Tags with their attributes and the texts; every tag is closed in its turn."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.texts, self.open, self.deepest = [], [], [], 0
        self.feed(text)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.tags.append((tag, dict(attrs)))
        if tag not in ("br", "hr"):
            self.open.append(tag)
            self.deepest = max(self.deepest, len(self.open))

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        self.texts.append(data)

    def checked(self):
        """That all tags are ours, and that a link says where it leads."""
        for tag, attrs in self.tags:
            assert tag in TAGS
            allowed = {"a": {"href", "rel"}, "ol": {"start"}, "p": {"class"}}.get(tag, set())
            assert set(attrs) <= allowed
            if tag == "a":
                assert is_address(attrs["href"])
                assert attrs["href"] in self.texts
        return self


@pytest.mark.parametrize(
    ("text", "html"),
    [
        ("", ""),
        ("one\ntwo\n\nthree", "<p>one<br>two</p><p>three</p>"),
        ("one\r\ntwo", "<p>one<br>two</p>"),
        ("# A\n## B #\n##### C", "<h4>A</h4><h5>B</h5><h6>C</h6>"),
        ("#no heading", "<p>#no heading</p>"),
        ("[]() [words]() ![]()", "<p> words [Picture: ]</p>"),
        ("**b** *i* ~~s~~ `c*d*`", "<p><strong>b</strong> <em>i</em> <s>s</s> <code>c*d*</code></p>"),
        ("sample_id_1 and 2 * 3 * 4", "<p>sample_id_1 and 2 * 3 * 4</p>"),
        ("**open and *both", "<p>**open and *both</p>"),
        (r"\*not\* \# \\", "<p>*not* # \\</p>"),
        ("- a\n  - b\n- c\n  more", "<ul><li>a<ul><li>b</li></ul></li><li>c<br>more</li></ul>"),
        ("3. a\n4. b", '<ol start="3"><li>a</li><li>b</li></ol>'),
        ("> a\n> - b\n\nafter", "<blockquote><p>a</p><ul><li>b</li></ul></blockquote><p>after</p>"),
        ("```r\n<b> *x*\n```\nafter", "<pre>&lt;b&gt; *x*</pre><p>after</p>"),
        ("above\n***\nbelow", "<p>above</p><hr><p>below</p>"),
        (
            "|a|b|\n|-|:-:|\n|1|*2*|3|\n|4|",
            "<table><thead><tr><th>a</th><th>b</th></tr></thead><tbody><tr><td>1</td><td><em>2</em></td></tr>"
            "<tr><td>4</td><td></td></tr></tbody></table>",
        ),
    ],
)
def test_what_is_understood(text, html):
    assert html_of_markdown(text).replace("\n", "") == html


def test_the_address_of_a_link_stands_beside_its_words():
    page = Page(
        html_of_markdown("[my bank](https://evil.example/a?b=c&d) and <https://x.org/a_b>.")
    ).checked()
    hrefs = [attrs["href"] for tag, attrs in page.tags if tag == "a"]
    assert hrefs == ["https://evil.example/a?b=c&d", "https://x.org/a_b"]
    assert "".join(page.texts) == "my bank (https://evil.example/a?b=c&d) and https://x.org/a_b."


@pytest.mark.parametrize(
    "address",
    [
        "javascript:alert(1)",
        "JavaScript:alert(1)",
        "file:///etc/passwd",
        "data:text/html,x",
        "//evil.example",
        "https://bank.example@evil.example/",
        "https://bаnk.example/",  # the first a is Cyrillic
        "https://x.org/\u202egpj",
        "https://x.org\\@evil.example",
        'https://x.org/"onclick="x',
        "../secret.html",
        "#run-0",
        "vbscript:x",
    ],
)
def test_other_addresses_are_words(address):
    page = Page(html_of_markdown(f"[here]({address}) <{address}> ![p]({address})")).checked()
    assert {attrs["href"] for tag, attrs in page.tags if tag == "a"} <= {
        "https://bank.example",
        "https://b",
        "https://x.org",
        "https://x.org/",
    }
    assert not is_address(address)


def test_pictures_and_raw_html_are_shown_as_words():
    text = '![me](https://track.example/1.png) <img src="file:///x.png" onerror=alert(1)> <script>x</script> &lt;'
    page = Page(html_of_markdown(text)).checked()
    shown = "".join(page.texts)
    assert shown.startswith("[Picture: me] (https://track.example/1.png) <img src=")
    assert shown.endswith("<script>x</script> &lt;")


def test_control_characters_are_symbols():
    shown = html_of_markdown("a\x00b\x1b[31m \u202ec\ud800 \u2028")
    assert not set("\x00\x1b\u202e\ud800\u2028") & set(shown)
    shown.encode()


def test_a_long_note_is_cut_and_says_so():
    page = html_of_markdown("x" * (LONGEST + 7))
    assert page.count("x") == LONGEST
    assert "goes on for 7 more characters" in page


def test_a_note_of_many_lines_is_cut_and_says_so():
    page = html_of_markdown("- a\n" * (MOST_LINES + 3))
    assert page.count("<li>") == MOST_LINES
    assert "goes on for 12 more characters" in page


def test_a_long_table_is_cut_and_says_so():
    page = html_of_markdown("|a|\n|-|\n" + "|b|\n" * (MOST_ROWS + 3))
    assert page.count("<td>") == MOST_ROWS
    assert "3 more rows are not shown here" in page


@given(st.text("ab *_~`#>-+1.|[]()!<&\\\n\t:/", max_size=300))
def test_any_text_gives_tags_of_ours_that_are_closed_in_their_turn(text):
    Page(html_of_markdown(text)).checked()


@given(st.text(max_size=100))
def test_any_letters_are_kept(text):
    Page(html_of_markdown(text)).checked()


@pytest.mark.parametrize(
    "part",
    ["*", "**a", "_a ", "`", "`` ` ", "[", "[a](", "![a](b", "![a](http://b", "> ", ">", "- ", "|", "|-", "a|\n-|\n", "#", "```\n",
     "<http://a", "http://a", "\\", "~~a", "***a", "1. a\n ", "&<", "|\n|-|\n|", " - a\n  - b\n    - c\n      - d\n        - e\n"],
)  # fmt: skip
def test_no_note_becomes_long_or_nests_deep(part):
    html = html_of_markdown((part * (LONGEST // len(part) + 1))[:LONGEST])
    assert len(html) < 40 * LONGEST
    assert Page(html).checked().deepest < 30

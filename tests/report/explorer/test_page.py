"""The page in a real browser. That nothing is written to its console as an error, and that it asks no other host, is
checked by the fixture `browser` after each test.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from morphlm.ngram.training import train_ngram
from morphlm.report.explorer.operations import Explorer
from morphlm.report.surprisal_scale import LEGEND, level
from tests.browser import NARROW, WIDE, console_errors, set_dark, set_window

from .small import explorer, model, running

SECONDS = 20  # of patience, on a busy machine
HOSTILE = "<img/src=x/onerror=document.title='broken'>"


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    page = explorer()
    page.warm()
    page.map_keeper("clbl++").wait(60)
    with running(page) as found:
        yield found


class Page:
    """What a person does and sees."""

    def __init__(self, browser: Any, address: str) -> None:
        self.browser, self.address = browser, address

    def open(self, fragment: str = "") -> Page:
        self.browser.get("about:blank")  # else only the fragment would change
        self.browser.get(f"{self.address}/{fragment}")
        self.until(lambda: self.js("return document.querySelectorAll('#model option').length") == 4)
        return self

    def js(self, script: str, *arguments: Any) -> Any:
        return self.browser.execute_script(script, *arguments)

    def find(self, selector: str) -> Any:
        return self.browser.find_element("css selector", selector)

    def all(self, selector: str) -> list[Any]:
        return [each for each in self.browser.find_elements("css selector", selector) if each.is_displayed()]

    def text(self, selector: str) -> str:
        return str(self.js("return document.querySelector(arguments[0]).innerText", selector))

    def texts(self, selector: str) -> list[str]:
        script = "return [...document.querySelectorAll(arguments[0])].filter(e => e.offsetParent).map(e => e.innerText)"
        return list(self.js(script, selector))

    def type(self, selector: str, text: str) -> None:
        box = self.find(selector)
        box.clear()
        box.send_keys(text)

    def click(self, selector: str, text: str) -> None:
        next(each for each in self.all(selector) if each.text.strip() == text).click()

    def until(self, condition: Callable[[], Any]) -> Any:
        from selenium.common.exceptions import StaleElementReferenceException
        from selenium.webdriver.support.ui import WebDriverWait

        waiting = WebDriverWait(self.browser, SECONDS, 0.05, ignored_exceptions=[StaleElementReferenceException])
        return waiting.until(lambda _: condition())

    def until_text(self, selector: str, text: str) -> None:
        self.until(lambda: text in self.text(selector))

    @property
    def fragment(self) -> str:
        return str(self.js("return decodeURIComponent(location.hash)"))


@pytest.fixture
def page(browser: Any, address: str) -> Page:
    return Page(browser, address)


# ---------------------------------------------------------------- the entry


def test_the_entry_offers_examples_of_the_model(page: Page) -> None:
    page.open()
    assert page.js("return document.activeElement.id") == "start"
    examples = explorer().examples("clbl++")
    page.until(lambda: page.texts(".start-cards h2"))
    titles = ["Words", "Words never seen", "Sentences", "Compare two models", "Map of morphemes", "The models"]
    assert page.texts(".start-cards h2") == titles
    assert page.texts(".start-cards .card:nth-child(1) .chip") == examples.words
    assert page.texts(".start-cards .card:nth-child(2) .chip") == examples.new_words == ["domou"]
    assert page.texts(".start-cards .card:nth-child(3) button") == examples.sentences
    assert page.text("#start-status") == ""
    assert page.texts(".model-list dt") == ["mkn", "lbl", "clbl++", "mixture"]
    assert page.fragment == ""


def test_a_click_on_an_example_leads_there_and_back(page: Page) -> None:
    page.open()
    page.until(lambda: page.texts(".start-cards h2"))
    page.click(".start-cards .chip", "domou")
    page.until_text("#word-status", "never seen, composed")
    page.browser.back()
    page.until(lambda: page.all("#panel-start .chip"))
    sentence = page.texts(".start-cards .card:nth-child(3) button")[0]
    page.click(".start-cards button.link", sentence)
    page.until(lambda: page.texts(".under:first-child .token") == [*sentence.split(), "⏎"])
    page.browser.back()
    page.until(lambda: page.all("#panel-start .card"))
    page.click(".start-cards button.link", "mkn against clbl++, on sentences that both made up")
    page.until(lambda: page.texts("#compare-result tbody tr"))
    both = [*explorer().examples("mkn").sentences, *explorer().examples("clbl++").sentences]
    assert page.find("#compare-text").get_property("value").split("\n") == list(dict.fromkeys(both))
    page.find(".top h1 a").click()
    page.until(lambda: page.all("#panel-start .card"))


@pytest.mark.parametrize(("typed", "fragment"), [("domy", "#word=domy&model=clbl++"), ("Domy a", "#sentence=Domy+a")])
def test_whatever_is_typed_at_the_entry_is_a_word_or_a_sentence(page: Page, typed: str, fragment: str) -> None:
    page.open()
    page.find("#start").send_keys(f"{typed}\n")
    page.until(lambda: page.fragment == fragment)


def test_empty_tabs_offer_examples_too(page: Page) -> None:
    page.open("#sentence=")
    page.until(lambda: page.texts("#sentence-examples button"))
    page.open("#word=")
    page.until(lambda: page.texts("#word-examples .chip"))
    page.type("#word", "domy")
    page.until(lambda: page.texts(".word-head h2") == ["domy"])
    assert page.texts("#word-examples .chip") == []


# ---------------------------------------------------------------- words


def test_a_word_is_explored_as_it_is_typed(page: Page) -> None:
    page.open("#word=")
    assert "Any word" in page.text("#word-status")
    assert page.js("return document.activeElement.id") == "word"
    page.type("#word", "Školu")
    page.until_text("#word-status", "Read as školu")
    assert page.texts(".word-head h2") == ["školu"]
    assert page.texts(".badge") == ["known"]
    assert [text.split() for text in page.texts(".split .morpheme")] == [["škol", "stem"], ["u", "suffix"]]
    nearest = [near.name for near in model("clbl++").vectors.neighbours("školu", 10)]
    assert page.texts("#word-result .columns:first-of-type .ranking button") == nearest
    assert page.fragment == "#word=Školu&model=clbl++"
    marks = "return [...document.querySelectorAll('#word-map .map-mark text')].map(e => e.textContent)"
    page.until(lambda: page.js(marks) == ["školu"])


def test_a_word_never_seen(page: Page) -> None:
    page.open(f"#word={quote('domou')}&model={quote('clbl++')}")
    page.until_text("#word-status", "never seen, composed")
    assert page.texts(".badge") == ["composed"]
    page.open(f"#word=brouk&model={quote('clbl++')}")
    page.until_text("#word-status", "not known")
    assert page.texts("#word-result .missing") == ["The model has not seen this word, nor any of its morphemes."]
    assert not page.find("#word-map-card").is_displayed()
    page.open("#word=xxxem")
    page.until(lambda: len(page.texts(".morpheme.no-vector")) == 1)
    assert page.texts(".badge") == ["only affixes known"]
    assert "Only its affixes are known: -em; its neighbours are words of the same form" in page.text("#word-result")


def test_a_neighbour_is_explored_by_a_click_and_one_can_go_back(page: Page) -> None:
    page.open("#word=domy")
    page.until(lambda: page.texts(".word-head h2") == ["domy"])
    second = page.texts(".ranking button")[1]
    page.click(".ranking button", second)
    page.until(lambda: page.texts(".word-head h2") == [second])
    assert page.fragment.startswith(f"#word={second}&")
    page.browser.back()
    page.until(lambda: page.texts(".word-head h2") == ["domy"])
    assert page.find("#word").get_property("value") == "domy"


def test_a_model_without_vectors_says_so(page: Page) -> None:
    page.open("#word=domy&model=mkn")
    page.until_text("#word-result", "A model of the kind mkn has no word vectors")
    assert "seen" in page.text(".word-head")
    page.js("const s = document.getElementById('model'); s.value = 'lbl'; s.dispatchEvent(new Event('change'))")
    page.until(lambda: page.texts("#word-result .ranking button"))
    assert page.fragment == "#word=domy&model=lbl"


@pytest.mark.parametrize("word", [HOSTILE, "<script>document.title=0</script>", "{{0*0}}", "a&b=c#d", "%00%"])
def test_whatever_is_typed_is_shown_as_text(word: str, page: Page) -> None:
    page.open(f"#word={quote(word)}&model=lbl")
    page.until(lambda: page.texts(".word-head h2") == [word.lower()])
    assert page.js("return document.title") == "morphlm explorer"
    assert page.js("return document.querySelectorAll('main img, main script').length") == 0


def test_several_words_are_a_sentence(page: Page) -> None:
    page.open("#word=<img onerror=x>")
    page.until_text("#word-result", "These are several words")
    page.click("button.link", "Look at them as a sentence")
    page.until(lambda: len(page.all(".tokens button")) > 4)
    assert page.js("return document.querySelectorAll('main img').length") == 0
    assert page.fragment == "#sentence=<img+onerror=x>"


def test_an_error_of_the_server_is_told(page: Page, browser: Any) -> None:
    page.open("#word=</s>")
    page.until_text("#word-status", "are marks that the models set themselves")
    assert page.js("return document.getElementById('word-status').classList.contains('is-error')")
    (error,) = console_errors(browser)
    assert "400" in error


def test_a_server_that_has_ended_is_told(browser: Any) -> None:
    with running(explorer()) as gone:
        page = Page(browser, gone).open("#word=")
        page.until(lambda: page.texts("#word-examples .chip"))
    page.type("#word", "domy")
    page.until_text("#word-status", "is `morphlm explore` still running?")
    assert console_errors(browser)


# ---------------------------------------------------------------- sentences


def test_a_sentence_under_every_model(page: Page) -> None:
    page.open("#sentence=")
    page.type("#sentence", "Školu brouk.")
    page.until_text("#sentence-status", "Read as: školu brouk .")
    assert page.texts(".under h3") == ["mkn", "lbl", "clbl++", "mixture"]
    tokens = page.texts(".under:first-child .token")
    assert tokens == ["školu", "brouk", ".", "⏎"]
    unknown = page.js("return [...document.querySelectorAll('.under:first-child .token')].map(e => e.title)")
    assert ["unknown" in title for title in unknown] == [False, True, True, False]
    assert page.fragment == "#sentence=Školu+brouk."


def test_a_token_tells_what_was_expected(page: Page) -> None:
    page.open(f"#sentence={quote('domy školu')}&is=prepared")
    page.until(lambda: page.all(".under .token"))
    page.click(".under:first-child .token", "školu")
    page.until(lambda: page.texts("[aria-live] .word-head h2") == ["školu"])
    pressed = page.js("return [...document.querySelectorAll('.token[aria-pressed=true]')].map(e => e.innerText)")
    assert pressed == ["školu"] * 4
    expected = explorer().sentence("domy školu", ["mkn"], "prepared", 8).models[0].tokens[1].expected
    shown = page.texts("[aria-live] .columns > div:first-child .ranking li:not(.axis) > :first-child")
    assert shown == ["end of the sentence" if e.word == "</s>" else e.word for e in expected]
    bars = "return [...document.querySelectorAll('[aria-live] .columns > div:first-child .bar')].map(e => e.value)"
    assert page.js(bars) == pytest.approx([e.probability**0.5 for e in expected], abs=1e-6)
    page.click("button.link", "Explore this word")
    page.until(lambda: page.texts("#panel-word .word-head h2") == ["školu"])


def test_colours_and_legend_are_those_of_the_report(page: Page) -> None:
    page.open(f"#sentence={quote('domy školu')}&is=prepared")
    page.until(lambda: page.all(".under .token"))
    assert page.texts(".scale li") == list(LEGEND)
    tokens = explorer().sentence("domy školu", ["mkn"], "prepared", 8).models[0].tokens
    classes = page.js("return [...document.querySelectorAll('.under:first-child .token')].map(e => e.className)")
    assert [name.split()[1] for name in classes] == [f"surprise-{level(token.bits)}" for token in tokens]


def test_a_bar_of_three_per_cent_can_be_seen(page: Page, browser: Any) -> None:
    page.open(f"#sentence={quote('domy školu')}&is=prepared")
    for size in (WIDE, NARROW):
        set_window(browser, size)
        page.until(lambda: page.all("[aria-live] .bar"))
        width = page.js("return document.querySelector('[aria-live] .bar').getBoundingClientRect().width")
        assert 0.03**0.5 * width >= 10, "pixels"
        ticks = page.js(
            "const bar = document.querySelector('[aria-live] .bar').getBoundingClientRect();"
            "return [...document.querySelector('[aria-live] .ticks').children].map(e => {"
            "const b = e.getBoundingClientRect(); return ((b.left + b.right) / 2 - bar.left) / bar.width })"
        )
        assert ticks == pytest.approx([0.01**0.5, 0.1**0.5, 0.5**0.5], abs=0.02)


def test_a_suggestion_goes_on_with_the_sentence(page: Page) -> None:
    page.open("#sentence=")
    page.type("#sentence", "domy šk")
    page.until_text("#next-words", "Completed by clbl++")
    word = page.texts("#next-words button")[0]
    assert word.startswith("šk")
    page.click("#next-words button", word)
    page.until_text("#next-words", "Next by clbl++")
    assert page.find("#sentence").get_property("value") == f"domy {word} "


# ---------------------------------------------------------------- comparisons


def test_two_models_on_a_text(page: Page) -> None:
    page.open(f"#compare=mkn&other={quote('clbl++')}")
    page.find("#compare-form button.primary").click()
    page.until_text("#compare-status", "Paste a text")
    text = "Školu domem řekou.\nDomy brouk.\n"
    page.type("#compare-text", text)
    page.find("#compare-form button.primary").click()
    page.until_text("#compare-status", "2 sentences, 9 tokens")
    view = explorer().compare("mkn", "clbl++", text, k=8)
    rows = page.texts("#compare-result tbody tr")
    assert [row.split("\t")[0].strip() for row in rows] == [group.name for group in view.groups] + ["all"]
    assert f"{view.whole.baseline:.2f}" in rows[-1]
    assert view.whole.change.text in rows[-1]
    assert page.texts("#compare-result h2") == ["clbl++ is better", "mkn is better"]
    page.all("#compare-result .sentences button.link")[0].click()
    page.until(lambda: page.all("#panel-sentence .under .token"))
    assert page.find("#sentence-is").get_property("value") == "prepared"


def test_comparisons_of_texts_from_right_to_left_flow_so(browser: Any) -> None:
    text = [["كتاب", "في", "البيت", "الكبير"], ["في", "البيت", "كتاب"]] * 3
    arabic = Explorer([("one", train_ngram(text, 1)), ("three", train_ngram(text, 3))])
    with running(arabic) as own:
        browser.get(f"{own}/#compare=one&other=three")
        page = Page(browser, own)
        page.until(lambda: page.find("#compare-form").is_displayed())
        page.js("document.getElementById('compare-text').value = 'كتاب في البيت الكبير'")
        page.find("#compare-form button.primary").click()
        page.until(lambda: page.texts("#compare-result .sentences"))
        places = page.js(
            "const box = (e) => e.getBoundingClientRect();"
            "return [...document.querySelectorAll('#compare-result li:has(> div > strong)')].map(e => {"
            "const before = e.querySelector('.context'); return before.textContent.trim() === '' ||"
            "box(e.querySelector('strong')).right <= box(before).right })"
        )
        assert places
        assert all(places), "a token stands to the left of the words before it"


def test_a_file_is_read_by_the_page_itself(page: Page, tmp_path: Path) -> None:
    (tmp_path / "text.txt").write_text("domy školu\nulicou\n")
    page.open("#compare=lbl&other=mkn")
    page.find("#compare-file").send_keys(str(tmp_path / "text.txt"))
    page.until_text("#compare-status", "text.txt is read.")
    page.find("#compare-form button.primary").click()
    page.until_text("#compare-status", "2 sentences, 5 tokens")
    (tmp_path / "large.txt").write_text("domy\n" * 400_000)
    page.find("#compare-file").send_keys(str(tmp_path / "large.txt"))
    page.until_text("#compare-status", "give at most 1,900,000")


# ---------------------------------------------------------------- the map


def test_the_map_and_a_morpheme_on_it(page: Page) -> None:
    page.open(f"#map=&model={quote('clbl++')}")
    page.until(lambda: page.js("return document.querySelectorAll('#map .map-point').length") == 11)
    page.type("#map .map-search", "ou")
    page.find("#map .map-search").send_keys("\n")
    page.until(lambda: page.texts("#morpheme-result h3 .morpheme"))
    assert page.fragment == "#map=ou/SUF&model=clbl++"
    assert "In 5 words" in page.text("#morpheme-result")
    nearest = [near.name for near in model("clbl++").vectors.neighbours("ou/SUF", 10, morpheme=True)]
    page.click("#morpheme-result .ranking button", nearest[0])
    page.until(lambda: page.texts("#panel-word .word-head h2") == [nearest[0]])


def test_a_model_without_a_map_says_so(page: Page) -> None:
    page.open("#map=&model=mkn")
    page.until_text("#map-status", "This model has no morphemes, and so no map of them")
    assert not page.find("#map-card").is_displayed()


# ---------------------------------------------------------------- all of it


def test_tabs_by_keyboard(page: Page) -> None:
    from selenium.webdriver.common.keys import Keys

    page.open("#word=domy")
    page.find("#tab-word").send_keys(Keys.ARROW_RIGHT)
    assert page.js("return document.activeElement.id") == "tab-sentence"
    assert page.find("#panel-sentence").is_displayed()
    assert not page.find("#panel-word").is_displayed()
    page.find("#tab-sentence").send_keys(Keys.END)
    assert page.find("#tab-map").get_attribute("aria-selected") == "true"
    page.find("#tab-map").send_keys(Keys.ARROW_RIGHT)
    assert page.find("#panel-start").is_displayed()


@pytest.mark.parametrize("dark", [False, True])
def test_nothing_is_wider_than_a_narrow_window(dark: bool, page: Page, browser: Any) -> None:
    set_window(browser, NARROW)
    set_dark(browser, dark)
    longest = "domu" * 20
    for fragment, shown in (
        ("", ".start-cards .chip"),
        (f"#word={longest}", ".word-head h2"),
        ("#word=domy", "#word-map .map-area"),
        (f"#sentence={quote(f'domy {longest} školu')}", ".under .token"),
        (f"#map={quote('ou/SUF')}&model={quote('clbl++')}", "#morpheme-result .ranking"),
    ):
        page.open(fragment)
        page.until(partial(page.all, shown))
        assert page.js("return document.documentElement.scrollWidth") <= NARROW[0], fragment
    background = page.js("return getComputedStyle(document.body).backgroundColor")
    assert (background == "rgb(251, 250, 248)") is not dark


def test_the_models_are_described(page: Page) -> None:
    page.open()
    page.find(".bottom summary").click()
    cards = page.texts("#models .card")
    assert len(cards) == 4
    assert "composed of their morphemes" in cards[2]
    assert str(model("clbl++").signature) in cards[2]


def test_the_documentation_of_the_api(page: Page) -> None:
    page.browser.get(f"{page.address}/api/docs")
    page.until(lambda: len(page.all("#operations .card")) == 9)
    assert "POST /api/compare" in page.text("#operations")
    assert "[object" not in page.text("body")
    assert page.js("return document.documentElement.scrollWidth <= window.innerWidth")

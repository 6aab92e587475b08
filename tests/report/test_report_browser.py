"""The page in a real browser: the map, the chooser of sentences, narrow windows, words that are HTML."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from morphlm.report.document import write_report
from morphlm.report.scored_models import ScoredModels
from tests.browser import NARROW, WIDE, requested, set_dark, set_window
from tests.report.cases import hostile_scored_models, scored_models

Opened = Callable[[ScoredModels], Any]


@pytest.fixture
def opened(browser: Any, tmp_path: Path) -> Opened:
    """Open the report on some models."""

    def open_(given: ScoredModels) -> Any:
        write_report(given, tmp_path / "report.html")
        browser.get((tmp_path / "report.html").as_uri())
        drawn(browser)
        return browser

    return open_


def drawn(browser: Any) -> None:
    """Wait for what the map has still to draw."""
    browser.execute_async_script("const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(done));")


def element(browser: Any, selector: str) -> Any:
    return browser.find_element("css selector", selector)


def elements(browser: Any, selector: str) -> list[Any]:
    found: list[Any] = browser.find_elements("css selector", selector)
    return found


def scale(browser: Any) -> float:
    drawn(browser)
    return float(element(browser, ".map-area svg").get_attribute("data-scale"))


def names(browser: Any, selector: str) -> list[str]:
    drawn(browser)
    return sorted(found.get_attribute("data-name") for found in elements(browser, selector))


def test_nothing_is_asked_for_but_the_page_itself(opened: Opened) -> None:
    browser = opened(scored_models("mkn", "clbl++"))
    assert [address.rsplit("/", 1)[1] for address in requested(browser)] == ["report.html"]
    assert len(elements(browser, ".map-point")) == 11


def test_the_map_zooms_by_buttons_keys_and_wheel_and_goes_back(opened: Opened) -> None:
    from selenium.webdriver import ActionChains
    from selenium.webdriver.common.actions.wheel_input import ScrollOrigin

    browser = opened(scored_models("clbl++"))
    area = element(browser, ".map-area svg")
    plus, minus, whole = elements(browser, ".map-buttons button")
    assert scale(browser) == 1
    plus.click()
    assert scale(browser) == pytest.approx(1.6)
    plus.click()
    minus.click()
    assert scale(browser) == pytest.approx(1.6)
    whole.click()
    assert scale(browser) == 1
    minus.click()
    assert scale(browser) == 1, "not smaller than the whole"
    area.send_keys("+")
    assert scale(browser) == pytest.approx(1.6)
    area.send_keys("0")
    assert scale(browser) == 1
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", area)
    ActionChains(browser).pause(0.3).move_to_element(area).move_by_offset(20, 10).perform()
    ActionChains(browser).scroll_from_origin(ScrollOrigin.from_element(area), 0, -100).perform()
    assert scale(browser) == pytest.approx(2.718281828**0.25, abs=0.001)


def test_the_map_is_panned_by_dragging_but_not_beyond_its_edge(opened: Opened) -> None:
    from selenium.webdriver import ActionChains

    browser = opened(scored_models("clbl++"))
    area = element(browser, ".map-area svg")

    def view() -> dict[str, float]:
        found: dict[str, float] = browser.execute_script("return window.reportMap.view()")
        return found

    def drag(dx: int, dy: int) -> None:
        ActionChains(browser).move_to_element(area).click_and_hold().move_by_offset(dx, dy).release().perform()

    drag(100, 50)
    assert (view()["x"], view()["y"]) == (0, 0), "the whole map is there"
    element(browser, ".map-buttons button").click()
    before = view()
    drag(-50, -30)
    after = view()
    width = area.rect["width"] - 2 * 28
    assert after["x"] - before["x"] == pytest.approx(50 / (1.6 * width), rel=0.05)
    assert after["y"] > before["y"]
    for _ in range(4):
        drag(-250, 0)
    assert view()["x"] == pytest.approx(1 - 1 / 1.6)


def test_searching_shows_what_is_found_and_dims_the_rest(opened: Opened) -> None:
    browser = opened(scored_models("clbl++"))
    box = element(browser, ".map-search")
    box.send_keys("OU")
    assert names(browser, ".map-point.lit") == ["ou/SUF"]
    assert len(elements(browser, ".map-point.dimmed")) == 10
    assert element(browser, ".map-status").text == "1 of 11; Enter goes through them"
    box.send_keys("\ue007")
    assert element(browser, ".map-details .map-name").text == "ou"
    assert "suffix, in 5 words" in element(browser, ".map-details").text
    assert names(browser, ".map-point.chosen") == ["ou/SUF"]
    box.send_keys("\ue00c")
    assert names(browser, ".map-point.dimmed") == []
    box.send_keys("školy")  # an example of its morphemes
    assert "y/SUF" in names(browser, ".map-point.lit")
    box.clear()
    box.send_keys("zzz")
    assert element(browser, ".map-status").text == "nothing found"
    assert len(elements(browser, ".map-point.dimmed")) == 11


def test_pointing_at_a_morpheme_tells_about_it_and_its_nearest_are_links(opened: Opened) -> None:
    from selenium.webdriver import ActionChains

    browser = opened(scored_models("clbl++"))
    point = element(browser, ".map-point[data-name='dom/STM']")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", point)
    ActionChains(browser).move_to_element(point).perform()
    drawn(browser)
    assert element(browser, ".map-details .map-name").text == "dom"
    assert "For example: doma, domu, domy" in element(browser, ".map-details").text
    ActionChains(browser).move_to_element(point).click().perform()
    link = element(browser, ".map-details button.link")
    name = link.text
    link.click()
    assert names(browser, ".map-point.chosen") == [name]


def test_the_keyboard_goes_from_morpheme_to_morpheme(opened: Opened) -> None:
    browser = opened(scored_models("clbl++"))
    area = element(browser, ".map-area svg")
    seen = set()
    for key in ("\ue014", "\ue014", "\ue012", "\ue015", "\ue013"):  # right, right, left, down, up
        area.send_keys(key)
        seen |= {*names(browser, ".map-point.chosen")}
    assert len(seen) >= 2
    area.send_keys("\ue00c")
    assert names(browser, ".map-point.chosen") == []


def test_names_can_be_highlighted_and_places_marked(opened: Opened) -> None:
    browser = opened(scored_models("clbl++"))
    browser.execute_script("reportMap.highlight(['dom/STM', 'a/SUF']); reportMap.mark(0.5, 0.5, '<b>word</b>')")
    assert names(browser, ".map-point.lit") == ["a/SUF", "dom/STM"]
    assert element(browser, ".map-mark text").text == "<b>word</b>"
    browser.execute_script("reportMap.highlight([]); reportMap.unmark()")
    drawn(browser)
    assert not elements(browser, ".map-point.lit, .map-point.dimmed, .map-mark")


def test_labels_do_not_cover_each_other(opened: Opened) -> None:
    browser = opened(scored_models("clbl++"))
    set_window(browser, NARROW)
    drawn(browser)
    drawn(browser)
    boxes = browser.execute_script(
        "return [...document.querySelectorAll('.map-label[visibility=visible]')].map(e => {"
        "const b = e.getBoundingClientRect(); return [b.left, b.top, b.right, b.bottom]; })"
    )
    assert len(boxes) >= 5
    for place, one in enumerate(boxes):
        for two in boxes[:place]:
            across, down = min(one[2], two[2]) - max(one[0], two[0]), min(one[3], two[3]) - max(one[1], two[1])
            assert across <= 0 or down <= 1, (one, two)


@pytest.mark.parametrize("size", [WIDE, NARROW])
def test_labels_cover_no_symbol_of_another_morpheme(opened: Opened, size: tuple[int, int]) -> None:
    browser = opened(scored_models("clbl++"))
    set_window(browser, size)
    drawn(browser)
    drawn(browser)
    covered = browser.execute_script(
        "const box = (e) => e.getBoundingClientRect();"
        "const symbols = [...document.querySelectorAll('.map-point')].map(e => [e.dataset.name, box(e)]);"
        "return [...document.querySelectorAll('.map-label[visibility=visible]')].flatMap(label => {"
        "const b = box(label); return symbols.filter(([name, s]) => name !== label.dataset.name &&"
        "Math.min(b.right, s.right) - Math.max(b.left, s.left) > 1 &&"
        "Math.min(b.bottom, s.bottom) - Math.max(b.top, s.top) > 2).map(([name]) => [label.dataset.name, name]); })"
    )
    assert covered == []


@pytest.mark.parametrize(("width", "least"), [(1600, 1400), (2400, 1700)])
def test_the_width_of_the_window_is_used(opened: Opened, width: int, least: int) -> None:
    browser = opened(scored_models("mkn", "clbl++"))
    set_window(browser, (width, 900))
    drawn(browser)
    used = browser.execute_script(
        "const a = document.querySelector('.about').getBoundingClientRect();"
        "const b = document.querySelector('.body').getBoundingClientRect(); return [a.left, a.right, b.left, b.right]"
    )
    assert used[3] - used[0] >= least
    assert used[1] < used[2], "what is explained stands beside what is shown"
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width


def test_the_page_can_be_read_without_scripts(opened: Opened) -> None:
    browser = opened(scored_models("mkn", "clbl++"))
    address = browser.current_url
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get(address)
        assert element(browser, ".headline").text
        assert element(browser, ".sentence").is_displayed()
        assert "allow it to see the map" in element(browser, "#map").text
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


def test_a_sentence_is_chosen_and_its_tokens_tell_their_figures(opened: Opened) -> None:
    from selenium.webdriver import ActionChains
    from selenium.webdriver.support.select import Select

    browser = opened(scored_models("mkn", "clbl++"))
    Select(element(browser, "#sentence-chooser")).select_by_value("sentence-3")
    assert [found.get_attribute("id") for found in elements(browser, ".sentence") if found.is_displayed()] == [
        "sentence-3"
    ]
    tokens = elements(browser, "#sentence-3 [data-token]")
    ActionChains(browser).move_to_element(tokens[1]).perform()
    details = element(browser, "#sentence-3 .token-details")
    assert details.text == f"městu {tokens[1].get_attribute('data-figures')}"
    browser.execute_script("arguments[0].focus()", tokens[0])
    assert details.text.startswith("pola mkn: ")
    tokens[0].send_keys("\ue014")
    assert browser.switch_to.active_element == tokens[1]
    tokens[1].send_keys("\ue010")
    assert details.text.startswith("end of sentence mkn: ")


@pytest.mark.parametrize("dark", [False, True])
def test_the_page_fits_a_narrow_window(opened: Opened, dark: bool) -> None:
    browser = opened(scored_models("mkn", "clbl", "clbl++", "mixture"))
    set_dark(browser, dark)
    set_window(browser, NARROW)
    drawn(browser)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= NARROW[0]
    ground = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert ground == ("rgb(20, 22, 26)" if dark else "rgb(251, 250, 248)")


def test_words_that_are_html_stay_words(opened: Opened) -> None:
    browser = opened(hostile_scored_models())
    assert not elements(browser, "img, b")
    assert element(browser, "h1").text == 'Report on <i>&, "clbl++"'
    element(browser, ".map-search").send_keys("<sc")
    assert "<sc" in names(browser, ".map-point.lit")
    element(browser, ".map-search").send_keys("\ue007")
    assert "<script>alert(1)</script>" in element(browser, ".map-details").text


def test_two_fingers_zoom_the_map(opened: Opened) -> None:
    browser = opened(scored_models("clbl++"))
    area = element(browser, ".map-area svg")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", area)
    box = browser.execute_script("const b = arguments[0].getBoundingClientRect(); return [b.left, b.top]", area)

    def touch(kind: str, *across: int) -> None:
        points = [{"x": box[0] + x, "y": box[1] + 150, "id": number} for number, x in enumerate(across)]
        browser.execute_cdp_cmd("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", 200)
    touch("touchStart", 200, 300)
    for apart in range(10, 60, 10):
        touch("touchMove", 200 - apart, 300 + apart)
    touch("touchEnd")
    assert scale(browser) == pytest.approx(2.0, rel=0.02)

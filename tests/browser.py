"""A headless Chromium for the tests of pages: the fixture `browser`.

A test fails if the page wrote an error to the console, or asked another host than this machine for anything; names of
other hosts do not resolve in it. Without chromium and chromedriver the tests are skipped.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

OWN_HOSTS = {"127.0.0.1", "localhost", "::1"}
OWN_SCHEMES = {"http", "https", "ws", "wss"}  # all others (file, data, blob, about) stay on this machine
WIDE, NARROW = (1280, 900), (360, 740)


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """One browser for all tests; use `browser`, which is clean."""
    driver_path, program = shutil.which("chromedriver"), shutil.which("chromium") or shutil.which("chromium-browser")
    if driver_path is None or program is None:
        pytest.skip("chromium and chromedriver are not installed (Debian: apt-get install chromium chromium-driver)")
    pytest.importorskip("selenium", reason="selenium is not installed (pip install selenium)")
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    profile = tmp_path_factory.mktemp("chromium")
    driver = webdriver.Chrome(options=_options(program, str(profile)), service=Service(driver_path))
    try:
        yield driver
    finally:
        driver.quit()


def _options(program: str, profile: str) -> Any:
    from selenium.webdriver import ChromeOptions

    options = ChromeOptions()
    options.binary_location = program
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    exclusions = ", ".join(f"EXCLUDE {host}" for host in sorted(OWN_HOSTS))
    arguments = [
        "--headless=new",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        "--disable-component-update",
        "--no-first-run",
        f"--user-data-dir={profile}",
        f"--host-resolver-rules=MAP * ~NOTFOUND, {exclusions}",
    ]
    if hasattr(os, "geteuid") and os.geteuid() == 0:
        arguments.append("--no-sandbox")  # Chromium's sandbox does not start for root
    for argument in arguments:
        options.add_argument(argument)
    return options


@pytest.fixture
def browser(chromium: Any) -> Iterator[Any]:
    """A clean window of a headless Chromium (selenium's driver). What its page may not do fails the test."""
    _start_afresh(chromium)
    yield chromium
    errors, strangers = console_errors(chromium), foreign_requests(chromium)
    assert not errors, f"the console has errors: {errors}"
    assert not strangers, f"the page asked other hosts: {strangers}"


def _start_afresh(driver: Any) -> None:
    set_dark(driver, False)
    set_window(driver, WIDE)
    driver.get("about:blank")
    for kind in ("browser", "performance"):
        driver.get_log(kind)


def set_window(driver: Any, size: tuple[int, int]) -> None:
    """Make the page that wide and high; the window itself cannot be narrower than about 500 pixels."""
    metrics = {"width": size[0], "height": size[1], "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)


def set_dark(driver: Any, dark: bool) -> None:
    """What the page is told when it asks whether the person prefers dark colours."""
    value = "dark" if dark else "light"
    driver.execute_cdp_cmd(
        "Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": value}]}
    )


def console_errors(driver: Any) -> list[str]:
    """What was written to the console as an error since the last call: exceptions, refused requests, policies."""
    return [entry["message"] for entry in driver.get_log("browser") if entry["level"] == "SEVERE"]


def foreign_requests(driver: Any) -> list[str]:
    """The addresses on other hosts that were asked for since the last call."""
    return [address for address in requested(driver) if _is_foreign(address)]


def requested(driver: Any) -> list[str]:
    """All addresses that were asked for since the last call."""
    messages = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    return [m["params"]["request"]["url"] for m in messages if m["method"] == "Network.requestWillBeSent"]


def _is_foreign(address: str) -> bool:
    parts = urlsplit(address)
    return parts.scheme in OWN_SCHEMES and parts.hostname not in OWN_HOSTS

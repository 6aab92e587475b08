"""Makes the pictures of the report and the explorer in this folder, with a headless Chromium.

    make demo
    python docs/images/make.py demo/cs

Needs chromium, chromedriver and selenium, and the extra `explore`. Run it again when the pages change.
"""

from __future__ import annotations

import argparse
import base64
import io
import shutil
import tempfile
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image
from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.support.ui import WebDriverWait

import morphlm
from morphlm.report import Explorer
from morphlm.report.explorer.server import make_server
from morphlm.report.explorer.serving import bind

HERE = Path(__file__).parent
WIDTH = 1400
COLOURS = 128  # of a palette, which keeps the files small
ARGUMENTS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--hide-scrollbars",
)
READY = "return document.querySelectorAll('.start-cards .chip, .map-point').length > 0"


def main() -> None:
    """Take the pictures."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("learned", metavar="DIR", help="a directory of `morphlm learn`")
    learned = Path(arguments.parse_args().learned).resolve()
    models = [("mkn", learned / "model" / "components" / "mkn"), (learned.name, learned)]
    with tempfile.TemporaryDirectory() as folder, browser(folder) as driver:
        picture(driver, (learned / "report.html").as_uri(), 1010, HERE / "report.png")
        with served(Explorer([(name, morphlm.load(path)) for name, path in models])) as address:
            picture(driver, address, 790, HERE / "explorer.png")


@contextmanager
def browser(folder: str) -> Iterator[Any]:
    """A headless Chromium with a new profile."""
    options = webdriver.ChromeOptions()
    for argument in (*ARGUMENTS, f"--user-data-dir={folder}/profile"):
        options.add_argument(argument)
    options.binary_location = shutil.which("chromium") or shutil.which("chromium-browser") or ""
    driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))  # nothing is downloaded
    try:
        yield driver
    finally:
        driver.quit()


@contextmanager
def served(explorer: Explorer) -> Iterator[str]:
    """The address of an explorer's page."""
    bound = bind(0)
    port = bound.getsockname()[1]
    server = make_server(explorer, port)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [bound]}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{port}/"
    finally:
        server.should_exit = True
        thread.join(10)
        bound.close()


def picture(driver: Any, address: str, height: int, out: Path) -> None:
    """What a person sees first of a page."""
    metrics = {"width": WIDTH, "height": height, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
    driver.get(address)
    WebDriverWait(driver, 60).until(lambda _: driver.execute_script(READY))
    driver.execute_script("document.activeElement.blur()")
    taken = base64.b64decode(driver.execute_cdp_cmd("Page.captureScreenshot", {})["data"])
    Image.open(io.BytesIO(taken)).convert("RGB").quantize(COLOURS).save(out, optimize=True)


if __name__ == "__main__":
    main()

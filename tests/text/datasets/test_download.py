import gzip
import hashlib
import random
from pathlib import Path

import pytest

from morphlm.errors import InputError
from morphlm.text.datasets.download import Patience, fetch_gzip

from .bad_server import Site, serving

CONTENT = gzip.compress(random.Random(1).randbytes(300_000), mtime=0)
QUICK = Patience(attempts=3, first_pause=0.001, timeout=5)


def fetch(site: Site, folder: Path) -> bytes:
    received = fetch_gzip(site.address + "a.tgz", folder / "a.tgz", QUICK)
    content = (folder / "a.tgz").read_bytes()
    assert (received.size, received.sha256) == (len(content), hashlib.sha256(content).hexdigest())
    assert sorted(path.name for path in folder.iterdir()) == ["a.tgz", "a.tgz.json"]
    return content


def test_a_cut_connection_is_resumed_where_it_broke_off(tmp_path: Path) -> None:
    with serving(Site({"a.tgz": CONTENT}, cut_after=[100_000, 1, 50_000])) as site:
        assert fetch(site, tmp_path) == CONTENT
    assert site.requests == [
        ("/a.tgz", None),
        ("/a.tgz", "bytes=100000-"),
        ("/a.tgz", "bytes=100001-"),
        ("/a.tgz", "bytes=150001-"),
    ]


def test_a_later_run_goes_on_from_the_part(tmp_path: Path) -> None:
    with serving(Site({"a.tgz": CONTENT}, cut_after=[70_000, 0, 0, 0])) as site:
        with pytest.raises(InputError, match=r"ended after 70,000 of 300,\d+ bytes, 3 times in a row; try again later"):
            fetch(site, tmp_path)
        assert (tmp_path / "a.tgz.part").read_bytes() == CONTENT[:70_000]
        assert not (tmp_path / "a.tgz").exists()
        assert fetch(site, tmp_path) == CONTENT
    assert site.requests[-1] == ("/a.tgz", "bytes=70000-")


def test_a_file_that_changed_meanwhile_is_fetched_whole(tmp_path: Path) -> None:
    other = gzip.compress(b"another version" * 1000)
    with serving(Site({"a.tgz": CONTENT}, cut_after=[70_000, 0, 0, 0])) as site:
        with pytest.raises(InputError):
            fetch(site, tmp_path)
        site.files["a.tgz"], site.etag = other, '"two"'
        assert fetch(site, tmp_path) == other


def test_a_server_without_ranges_sends_it_whole_again(tmp_path: Path) -> None:
    with serving(Site({"a.tgz": CONTENT}, cut_after=[1000, 500], knows_ranges=False)) as site:
        assert fetch(site, tmp_path) == CONTENT
    assert len(site.requests) == 3


def test_passing_trouble_is_waited_out(tmp_path: Path) -> None:
    with serving(Site({"a.tgz": CONTENT}, statuses=[500, 503])) as site:
        assert fetch(site, tmp_path) == CONTENT


def test_lasting_trouble_ends_after_the_attempts(tmp_path: Path) -> None:
    with (
        serving(Site({"a.tgz": CONTENT}, statuses=[500] * 9)) as site,
        pytest.raises(InputError, match="answered 500 Internal Server Error, 3 times in a row"),
    ):
        fetch(site, tmp_path)
    assert len(site.requests) == 3


def test_a_missing_file_is_given_up_at_once(tmp_path: Path) -> None:
    with serving(Site({})) as site, pytest.raises(InputError, match=r"a\.tgz: the server answered 404 Not Found"):
        fetch(site, tmp_path)
    assert len(site.requests) == 1
    assert list(tmp_path.iterdir()) == []


def test_a_length_that_promises_too_much_is_settled_by_what_the_server_says_then(tmp_path: Path) -> None:
    with serving(Site({"a.tgz": CONTENT}, extra_length=10)) as site:
        assert fetch(site, tmp_path) == CONTENT
    assert site.requests[1:] == [("/a.tgz", f"bytes={len(CONTENT)}-")]


def test_a_length_that_promises_too_much_without_ranges_is_refused(tmp_path: Path) -> None:
    site = Site({"a.tgz": CONTENT}, extra_length=10, knows_ranges=False)
    with serving(site), pytest.raises(InputError, match=r"ended after 300,\d+ of 300,\d+ bytes, 3 times"):
        fetch(site, tmp_path)
    assert not (tmp_path / "a.tgz").exists()


def test_a_web_page_instead_of_gzip_is_refused_at_once(tmp_path: Path) -> None:
    with (
        serving(Site({"a.tgz": b"<!DOCTYPE html><html>Please log in</html>"})) as site,
        pytest.raises(InputError, match="this is a web page, not a gzip file"),
    ):
        fetch(site, tmp_path)
    assert len(site.requests) == 1
    assert [path.name for path in tmp_path.iterdir() if path.stat().st_size and path.suffix == ".part"] == []


@pytest.mark.parametrize("damage", [b"", b"\0"])
def test_damaged_gzip_is_refused_and_removed(tmp_path: Path, damage: bytes) -> None:
    middle = len(CONTENT) // 2
    broken = CONTENT[:middle] + damage + CONTENT[middle + 1 :]
    assert broken != CONTENT
    with serving(Site({"a.tgz": broken})) as site:
        with pytest.raises(InputError, match="damaged, and removed"):
            fetch(site, tmp_path)
        site.files["a.tgz"], site.etag = CONTENT, '"two"'
        assert fetch(site, tmp_path) == CONTENT


def test_a_server_that_is_not_there(tmp_path: Path) -> None:
    with serving(Site({})) as site:
        pass
    with pytest.raises(InputError, match=r"the connection failed \(.*refused.*\), 3 times"):
        fetch(site, tmp_path)


def test_the_cache_is_used_only_while_its_hash_is_right(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with serving(Site({"a.tgz": CONTENT})) as site:
        fetch(site, tmp_path)
        fetch(site, tmp_path)
        assert len(site.requests) == 1
        (tmp_path / "a.tgz").write_bytes(CONTENT[:-1] + b"x")
        assert fetch(site, tmp_path) == CONTENT
        assert len(site.requests) == 2
    assert "changed after it was received" in capsys.readouterr().err


def test_a_file_that_is_another_than_the_first_time_is_refused(tmp_path: Path) -> None:
    with serving(Site({"a.tgz": CONTENT})) as site:
        fetch(site, tmp_path)
        (tmp_path / "a.tgz").unlink()
        assert fetch(site, tmp_path) == CONTENT  # the same again
        (tmp_path / "a.tgz").unlink()
        site.files["a.tgz"], site.etag = gzip.compress(b"forged"), '"two"'
        with pytest.raises(InputError, match=r"not the file that was received before .* remove .*a\.tgz\.json"):
            fetch(site, tmp_path)
        assert [path.name for path in tmp_path.iterdir() if path.suffix != ".version"] == ["a.tgz.json"]
        (tmp_path / "a.tgz.json").unlink()
        assert fetch(site, tmp_path) == site.files["a.tgz"]

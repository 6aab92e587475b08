"""Small Debian packages of help pages, and an `apt-get` that hands them out."""

import io
import lzma
import stat
import sys
import tarfile
from pathlib import Path

COPYRIGHT = "Format: x\n\nFiles: *\nCopyright: somebody\nLicense: MPL-2.0\n text\n\nFiles: y\nLicense: GPL-2+\n"


def tar_of(files: dict[str, str]) -> bytes:
    raw = io.BytesIO()
    with tarfile.open(fileobj=raw, mode="w") as archive:
        for name, text in files.items():
            entry = tarfile.TarInfo("./" + name)
            entry.size = len(text.encode())
            archive.addfile(entry, io.BytesIO(text.encode()))
    return raw.getvalue()


def ar_of(members: dict[str, bytes]) -> bytes:
    content = b"!<arch>\n"
    for name, data in members.items():
        content += (
            f"{name:<16}{0:<12}{0:<6}{0:<6}{100644:<8}{len(data):<10}`\n".encode() + data + b"\n" * (len(data) % 2)
        )
    return content


def package_of(files: dict[str, str]) -> bytes:
    # The odd length of the first member makes its padding matter.
    return ar_of({"debian-binary": b"2.0", "control.tar.xz": b"x", "data.tar.xz": lzma.compress(tar_of(files))})


def help_package(language: str, pages: dict[str, str]) -> bytes:
    root = f"usr/share/libreoffice/help/{language}"
    files = {f"{root}/text/{name}.html": page(body) for name, body in pages.items()}
    return package_of(
        {**files, f"{root}/contents.js": "no page", f"usr/share/doc/libreoffice-help-{language}/copyright": COPYRIGHT}
    )


def page(body: str) -> str:
    return (
        "<!DOCTYPE html><html><head><title>T</title><script>var x = '<p id=\"par_1\">no</p>';</script></head><body>"
        '<p id="par_menu">a menu</p><div id="DisplayArea">'
        f"{body}</div><footer><p>debug</p></footer></body></html>"
    )


def write_fake_apt_get(folder: Path, packages: Path, *, complaint: str = "") -> None:
    """Put an executable `apt-get` into `folder` that copies from `packages` and logs how it was called."""
    folder.mkdir(parents=True, exist_ok=True)
    program = folder / "apt-get"
    program.write_text(
        f"""#!{sys.executable}
import pathlib, shutil, sys
arguments = sys.argv[1:]
with open({str(folder / "calls")!r}, "a") as log:
    print(*arguments, file=log)
configuration = pathlib.Path(arguments[arguments.index("-c") + 1]).read_text()
assert 'Dir::State::lists "' + str(pathlib.Path.cwd().parent) in configuration
if {complaint!r}:
    print({complaint!r}, file=sys.stderr)
    sys.exit(100 if "download" in arguments else 0)
if "download" in arguments:
    for name in arguments[arguments.index("download") + 1:]:
        for path in pathlib.Path({str(packages)!r}).glob(name + "_*.deb"):
            shutil.copy(path, ".")
""",
        encoding="utf-8",
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)

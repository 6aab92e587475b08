"""The documents name files, functions and links that exist, and their examples run."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import re
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import click
import numpy as np
import pytest

import morphlm
from morphlm.cli.main import COMMANDS
from morphlm.cli.main import morphlm as morphlm_group
from morphlm.experiments.parts import STEPS, ReportPart
from morphlm.experiments.recipe import read_recipe
from morphlm.text.datasets.registry import DATASETS, DataSet
from morphlm.text.languages import check_language
from tests.conftest import GOLDEN, Outcome
from tests.full.test_demo_figures import LISTED, read_listed

Command = Callable[..., Outcome]

ROOT = Path(__file__).parent.parent
PACKAGE = ROOT / "src" / "morphlm"
ARCHITECTURE, GLOSSARY, DESIGN = (ROOT / "docs" / f"{name}.md" for name in ("architecture", "glossary", "design"))
GENERATED, RUN = ROOT / "docs" / "commands.md", ROOT / "docs" / "extending.md"  # whose examples run as they are
PAGES = [
    *sorted((ROOT / "docs").rglob("*.md")),
    *(ROOT / name for name in ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md")),
]
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
FENCE = re.compile(r"^```(\S*)(.*?)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def page_name(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


def prose(page: Path) -> str:
    """A page without its examples, or the text of a notebook."""
    if page.suffix == ".ipynb":
        return "\n\n".join("".join(cell["source"]) for cell in notebook_cells(page, "markdown"))
    return FENCE.sub("", page.read_text())


def notebook_cells(page: Path, kind: str) -> list[dict[str, Any]]:
    return [cell for cell in json.loads(page.read_text())["cells"] if cell["cell_type"] == kind]


def examples(page: Path, language: str) -> list[str]:
    return [body for kind, _, body in FENCE.findall(page.read_text()) if kind == language]


def names_in(body: list[ast.stmt]) -> dict[str, list[ast.stmt]]:
    """What a module or class defines, with the body of each class."""
    names: dict[str, list[ast.stmt]] = {}
    for statement in body:
        if isinstance(statement, ast.ClassDef):
            names[statement.name] = statement.body
        elif isinstance(statement, ast.FunctionDef):
            names[statement.name] = []
        elif isinstance(statement, ast.Assign):
            names |= {target.id: [] for target in statement.targets if isinstance(target, ast.Name)}
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            names[statement.target.id] = []
    return names


def is_defined(path: Path, name: str) -> bool:
    body = ast.parse(path.read_text()).body
    for part in name.split("."):
        names = names_in(body)
        if part not in names:
            return False
        body = names[part]
    return True


def references(page: Path) -> list[tuple[str, str]]:
    """Every `path.py` and `path.py: name` of a page."""
    return sorted(set(re.findall(r"`([\w/]+\.py)(?:: ([\w.]+))?`", page.read_text())))


@pytest.mark.parametrize("page", [ARCHITECTURE, GLOSSARY, DESIGN], ids=lambda path: path.name)
def test_files_and_functions_that_are_named_exist(page: Path) -> None:
    missing = []
    for file, name in references(page):
        path = ROOT / file if file.startswith(("tests/", "benchmarks/")) else PACKAGE / file
        if not path.is_file() or (name and not is_defined(path, name)):
            missing.append(f"{file}: {name}" if name else file)
    assert not missing


def test_architecture_names_every_layer() -> None:
    drawing = (ROOT / "docs" / "architecture.svg").read_text()
    table = ARCHITECTURE.read_text().partition("## Walk 1")[0]
    for path in PACKAGE.iterdir():
        name = path.stem
        if name.startswith("__") or path.suffix not in ("", ".py"):
            continue
        assert f">{name}</text>" in drawing, name
        assert f"`{name}`" in table, name


def anchors(page: Path) -> set[str]:
    """The anchors of the headings, as GitHub and the site make them; a heading that comes again gets a number."""
    seen: Counter[str] = Counter()
    names = set()
    for heading in re.findall(r"^#+ (.+)$", prose(page), re.MULTILINE):
        slug = re.sub(r"[^\w\- ]", "", heading.strip().lower()).replace(" ", "-")
        names.add(f"{slug}-{seen[slug]}" if seen[slug] else slug)
        seen[slug] += 1
    return names


@pytest.mark.parametrize("page", [*PAGES, *NOTEBOOKS], ids=page_name)
def test_links_lead_somewhere(page: Path) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)\s]+)\)", prose(page)):
        file, _, anchor = target.partition("#")
        path = page.parent / file if file else page
        assert path.exists(), target
        if anchor:
            assert anchor in anchors(path), target


def test_every_page_is_in_the_contents_of_the_site() -> None:
    entries = [
        (page.parent, line)
        for page in PAGES
        for body in examples(page, "{toctree}")
        for line in body.splitlines()
        if line and not line.startswith(":")
    ]
    named = {folder / line.rpartition("<")[2].removesuffix(">") for folder, line in entries}
    pages = {path for path in (ROOT / "docs").rglob("*.md") if path.parent.name != "fragments"}
    assert named == {path.with_suffix("") for path in (*pages, *NOTEBOOKS)} - {ROOT / "docs" / "index"}


@pytest.mark.parametrize("page", NOTEBOOKS, ids=page_name)
def test_notebooks_use_public_names_and_have_run(page: Path) -> None:
    cells = notebook_cells(page, "code")
    assert not re.findall(r"(?:from|import) morphlm[._]\w+", "\n".join("".join(cell["source"]) for cell in cells))
    assert any(cell["outputs"] for cell in cells), "make notebooks"


# ---------------------------------------------------------------- commands and names of the pages


def command_of(words: list[str]) -> tuple[click.Command, list[str]]:
    """The command that the words of a line name, and the words after its name."""
    command: click.Command = morphlm_group
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        found = command.get_command(click.Context(command), words[0])
        assert found is not None, words[0]
        command, words = found, words[1:]
    return command, words


def options_of(command: click.Command) -> set[str]:
    named = (name for parameter in command.params for name in (*parameter.opts, *parameter.secondary_opts))
    return {"--help", "-h"} | {name for name in named if name.startswith("-")}


def command_lines(text: str) -> Iterator[list[str]]:
    """The words of every call of morphlm in an example for the shell."""
    for line in text.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        for i, word in enumerate(words):
            if word == "morphlm" and (i == 0 or words[i - 1] in {"|", "do"} or words[i - 1].endswith(";")):
                rest = words[i + 1 :]
                ends = [j for j, word in enumerate(rest) if word in {"|", ">", "<"} or word.endswith(";")]
                yield rest[: ends[0]] if ends else rest


@pytest.mark.parametrize("page", [page for page in PAGES if page not in {GENERATED, RUN}], ids=page_name)
def test_the_commands_of_a_page_have_these_options(page: Path) -> None:
    for text in examples(page, "sh"):
        for words in command_lines(text):
            command, rest = command_of(words)
            unknown = {word.partition("=")[0] for word in rest if re.match(r"--?[a-z]", word)} - options_of(command)
            assert not unknown, f"morphlm {' '.join(words)}"


def all_options(command: click.Command) -> set[str]:
    found = options_of(command)
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            child = command.get_command(context, name)
            assert child is not None
            found |= all_options(child)
    return found


@pytest.mark.parametrize("page", [page for page in PAGES if page.parent.name == "howto"], ids=page_name)
def test_the_options_in_the_text_of_a_page_exist(page: Path) -> None:
    named = set(re.findall(r"`(--[a-z][\w-]*)", prose(page)))
    assert named <= all_options(morphlm_group)


INTERNAL = {"morphlm.logbilinear.kernels.query", "morphlm.logbilinear.query"}  # howto/decoders.md says so


@pytest.mark.parametrize("page", [page for page in PAGES if page != RUN], ids=page_name)
def test_the_names_that_examples_import_are_public(page: Path) -> None:
    for text in examples(page, "python"):
        for package, names in re.findall(r"^from (morphlm[\w.]*) import (.+)$", text, re.MULTILINE):
            module = importlib.import_module(package)
            public = vars(module) if package in INTERNAL else module.__all__
            assert set(names.split(", ")) <= set(public), package


PACKAGES = ["morphlm", *(f"morphlm.{name}" for name in ("analysis", "experiments", "extension", "report", "scoring"))]
PACKAGES += ["morphlm.segmentation", "morphlm.translation"]


INTEGRATIONS = [
    f"morphlm.integrations.{name}" for name in ("kenlm", "pyctcdecode", "flashlight", "spacy", "sklearn", "datasets")
]


@pytest.mark.parametrize(
    ("page", "packages"),
    [*((package.rpartition(".")[2], [package]) for package in PACKAGES), ("integrations", INTEGRATIONS)],
)
def test_the_python_reference_has_every_public_name_once(page: str, packages: list[str]) -> None:
    text = (ROOT / "docs" / "reference" / "python" / f"{page}.md").read_text()
    bodies = [(argument.strip(), body) for kind, argument, body in FENCE.findall(text) if kind == "{public-names}"]
    assert {argument for argument, _ in bodies} == set(packages)
    for package in packages:
        names = [name for argument, body in bodies if argument == package for name in body.split()]
        assert sorted(names) == sorted(set(importlib.import_module(package).__all__) - {"__version__"})


def shared_descriptions() -> dict[str, dict[str, str]]:
    """What the reference says of arguments and methods that mean the same everywhere."""
    namespace: dict[str, Any] = {}
    exec((ROOT / "docs" / "_ext" / "shared_descriptions.py").read_text(), namespace)
    return {name: namespace[name] for name in ("ARGUMENTS", "METHODS")}


def public_functions() -> Iterator[Any]:
    for package in PACKAGES:
        module = importlib.import_module(package)
        yield from filter(inspect.isfunction, (getattr(module, name) for name in module.__all__))


@pytest.mark.parametrize("function", dict.fromkeys(public_functions()), ids=lambda function: function.__name__)
def test_every_argument_of_a_public_function_is_explained(function: Any) -> None:
    known, text = shared_descriptions()["ARGUMENTS"], function.__doc__ or ""
    arguments = inspect.signature(function).parameters
    assert [name for name in arguments if name not in known and not re.search(rf"\b{name}\b", text)] == []
    assert all(one.annotation is not inspect.Parameter.empty for one in arguments.values())
    assert text


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_class_and_its_methods_are_explained(package: str) -> None:
    """By a docstring, as one of the methods that mean the same everywhere, or at the base that is overridden."""
    module, missing = importlib.import_module(package), []
    for kind in filter(inspect.isclass, (getattr(module, name) for name in module.__all__)):
        assert kind.__doc__, kind
        for name, value in vars(kind).items():
            function = getattr(value, "__func__", None) or getattr(value, "fget", None) or value
            is_base = any(getattr(getattr(base, name, None), "__doc__", None) for base in kind.__mro__[1:])
            is_known = name in shared_descriptions()["METHODS"] or is_base
            if inspect.isfunction(function) and not name.startswith("_") and not function.__doc__ and not is_known:
                missing.append(f"{kind.__name__}.{name}")
    assert missing == []


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "docs" / "tutorial.md"], ids=page_name)
def test_the_pages_show_the_figures_of_the_results(page: Path) -> None:
    shown = {}
    for beginning, behind in (("Perplexity of the test text", ""), ("With caches, which .*", ", with caches")):
        line = re.search(rf"^{beginning}: (.+)\.$", page.read_text(), re.MULTILINE)
        assert line is not None
        for name, figure in re.findall(r"([\w+ -]+?) ([\d.]+)(?:, |$)", line[1]):
            shown[LISTED[name + behind]] = float(figure)
    _, listed = read_listed()
    assert shown == {name: round(test, 1) for name, (_, test) in listed.items()}


def rows_of_tokens() -> list[tuple[str, str, list[str]]]:
    """Language, text and tokens of the examples in docs/howto/text.md."""
    section = (ROOT / "docs" / "howto" / "text.md").read_text().partition("### Tokens")[2].partition("\n### ")[0]
    rows = re.findall(r"^\| (\w+) \| `(.+?)` \| (.+) \|$", section, re.MULTILINE)
    return [(language, text, re.findall(r"`(.+?)`", tokens)) for language, text, tokens in rows]


@pytest.mark.parametrize(("language", "text", "tokens"), rows_of_tokens())
def test_the_examples_of_tokens(language: str, text: str, tokens: list[str]) -> None:
    options = morphlm.PrepareOptions(language=check_language(language), case="keep", digits=False)
    assert list(morphlm.prepare_lines([text], options)) == [tokens]


# ---------------------------------------------------------------- docs/extending.md (its kind: test_extending.py)


def blocks(heading: str, language: str) -> list[str]:
    """The examples of a section of the page."""
    section = (ROOT / "docs" / "extending.md").read_text().partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return re.findall(rf"```{language}\n(.*?)```", section, re.DOTALL)


def module_of(name: str, source: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """A module of the package as if the file were there."""
    module = ModuleType(name)
    monkeypatch.setitem(sys.modules, name, module)
    exec(compile(source, name, "exec"), module.__dict__)
    return module


@pytest.fixture
def texts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """train.txt and dev.txt in the working directory."""
    monkeypatch.chdir(tmp_path)
    lines = (GOLDEN / "kneser-ney" / "train.txt").read_text().splitlines()
    Path("train.txt").write_text("\n".join(lines[:400]) + "\n")
    Path("dev.txt").write_text("\n".join(lines[400:440]) + "\n")


@pytest.mark.usefixtures("texts")
def test_the_source_of_factors_of_the_page(monkeypatch: pytest.MonkeyPatch, morphlm_command: Command) -> None:
    site, metadata = Path("site"), Path("site/halves-1.0.dist-info")
    metadata.mkdir(parents=True)
    (site / "halves.py").write_text(blocks("A source of factors", "python")[0])
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: halves\nVersion: 1.0\n")
    group, name, target = re.findall(r'"(.+?)"\]\n(\S+) = "(.+)"', blocks("A source of factors", "toml")[0])[0]
    (metadata / "entry_points.txt").write_text(f"[{group}]\n{name} = {target}\n")
    monkeypatch.syspath_prepend(str(site.resolve()))
    for line in blocks("A source of factors", "sh")[0].splitlines():
        outcome = morphlm_command(*line.split()[1:])
        assert outcome.status == 0, (line, outcome.stderr)
    vectors = morphlm.load("cs.halves").vectors
    factors = vectors.factors
    assert factors is not None
    stem = next(name for name in factors.names[factors.surfaces :] if len(name) == 3 and name[0] != "-")
    assert np.allclose(vectors[stem + "☃"], vectors.morpheme(stem))  # a word never seen, of whose factors one is known
    sys.modules.pop("halves")


def test_the_step_of_the_page_is_the_one_that_is_tested() -> None:
    own_step = (ROOT / "tests" / "experiments" / "own_step.py").read_text()
    step, entry = blocks("A step of a recipe", "python")
    assert step == own_step  # test_reproduce.py runs it
    parts = eval("{" + entry + "}", {"ReportPart": ReportPart, "STEPS": STEPS})
    assert parts["unknown-words"].step.endswith("unknown_words:UnknownWordsStep")
    recipe = read_recipe(blocks("A step of a recipe", "toml")[0].replace("unknown-words", "corpus"), "own", "own.toml")
    assert (recipe.languages, recipe.tokens, recipe.kinds) == (("gen",), (1000,), ("mkn",))


@pytest.mark.usefixtures("texts")
def test_the_command_of_the_page(monkeypatch: pytest.MonkeyPatch, morphlm_command: Command) -> None:
    source, entry = blocks("A command", "python")
    module_of("morphlm.cli.oov", source, monkeypatch)
    for name, line in eval("{" + entry + "}").items():
        monkeypatch.setitem(COMMANDS, name, line)
    assert "Words of a text that a model does not know." in morphlm_command("--help").stdout
    morphlm.train_ngram([["na", "dom"]]).save("model")
    Path("text.txt").write_text("na horu dom\nhoru les\n")
    assert morphlm_command("oov", "model", "text.txt", "-k", "1").stdout == "horu\t2\n"
    assert json.loads(morphlm_command("oov", "model", "text.txt", "--json").stdout)[1] == {"word": "les", "count": 1}


def test_the_data_set_of_the_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, morphlm_command: Command) -> None:
    source, entry = blocks("A data set", "python")
    python_topics = module_of("morphlm.text.datasets.python_topics", source, monkeypatch)
    dataset = eval(entry, {"DataSet": DataSet, "python_topics": python_topics})
    monkeypatch.setitem(DATASETS, dataset.name, dataset)
    outcome = morphlm_command("data", "get", "python-topics", tmp_path / "topics")
    assert (outcome.status, outcome.stdout.count("\n")) == (0, 3)
    assert "python-topics" in morphlm_command("data", "list").stdout
    assert "nothing was fetched" in morphlm_command("data", "get", "python-topics", tmp_path / "topics").stderr

"""What the documents say of the program is what the program does."""

import re
from pathlib import Path

import generate_doctor
import growth_plot
import pytest
from generate import PAGES, PARTS, filled

from gputop.core.detectors.registry import detectors

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()
DOCUMENTS = [path for path in ROOT.glob("**/*.md") if not {".venv", ".venv-lowest", "node_modules"} & set(path.parts)]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_follows_from_the_code_is_current(page: Path) -> None:
    assert filled(page.read_text()) == page.read_text(), "run: python docs/generate.py"


def test_every_part_has_its_place_in_a_document() -> None:
    text = "".join(page.read_text() for page in PAGES)

    assert [
        part for part in PARTS if f"<!-- {part}: written" not in text or f"<!-- end of {part} -->" not in text
    ] == []


def test_every_code_is_explained() -> None:
    page = (ROOT / "docs" / "findings.md").read_text()

    assert [code for kind, _ in detectors() for code in kind.codes if f"`{code}`" not in page] == []


def test_every_variable_is_explained() -> None:
    page = (ROOT / "docs" / "configuration.md").read_text()
    sources = "".join(path.read_text() for path in (ROOT / "gputop").glob("**/*.py"))
    own = {"GPUTOP_PROBE_PLAN", "GPUTOP_UNTIL_INPUT_ENDS"}  # gputop sets them, for its worker and for itself elsewhere
    variables = set(re.findall(r'"(GPUTOP_[A-Z_]+)"', sources)) - own

    assert sorted(name for name in variables if f"`{name}`" not in page) == []


def test_the_page_of_the_doctor_is_current() -> None:
    assert generate_doctor.PAGE.read_text() == generate_doctor.page(), "run: python docs/generate.py"


def test_the_picture_of_growth_is_current() -> None:
    assert growth_plot.PICTURE.read_text() == growth_plot.current(), "run: python docs/generate.py"


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 150


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_link_of_a_document_is_dead(document: Path) -> None:
    assert [link for link in _links(document) if not (document.parent / link).exists()] == []


def test_every_document_is_reached_from_the_readme() -> None:
    reached = [ROOT / "README.md"]
    for page in reached:
        linked = (page.parent / link for link in _links(page) if link.endswith(".md"))
        reached += [path for path in map(Path.resolve, linked) if path not in reached]

    assert [str(path.relative_to(ROOT)) for path in (ROOT / "docs").glob("*.md") if path not in reached] == []
    assert ROOT / "bench" / "README.md" in reached


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_document_sends_anybody_to_the_other_gputop(document: Path) -> None:
    assert not re.search(r"pip install (-U |--upgrade )?gputop", document.read_text())


def _links(document: Path) -> list[str]:
    """Return the files that a document links to."""
    return re.findall(r"\]\(([^)#:]+)(?:#[^)]*)?\)", document.read_text())

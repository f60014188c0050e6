"""What the documents say of the program is what the program does."""

import re
from pathlib import Path

import generate_doctor
import pytest
from generate import filled

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
DOCUMENTS = [path for path in ROOT.glob("**/*.md") if not {".venv", "node_modules"} & set(path.parts)]


def test_the_table_of_keys_is_current() -> None:
    assert filled(README) == README, "run: python docs/generate.py"


def test_the_page_of_the_doctor_is_current() -> None:
    assert generate_doctor.PAGE.read_text() == generate_doctor.page(), "run: python docs/generate_doctor.py"


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 150


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_link_of_a_document_is_dead(document: Path) -> None:
    links = re.findall(r"\]\(([^)#:]+)\)", document.read_text())

    assert [link for link in links if not (document.parent / link).exists()] == []


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_document_sends_anybody_to_the_other_gputop(document: Path) -> None:
    assert not re.search(r"pip install (-U |--upgrade )?gputop", document.read_text())

# SPDX-License-Identifier: BSD-2-Clause
"""Links between pages lead somewhere, and what pages list is all there is."""

import re

from program import QUORATE, REPOSITORY, output

TRACKED = output("git", "ls-files", "-co", "--exclude-standard", "*.md", cwd=REPOSITORY).split()
PAGES = [REPOSITORY / name for name in TRACKED if (REPOSITORY / name).exists()]


def prose(page):
    """A page without code, in which brackets are no links."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)
    return re.sub(r"^    .*$|`[^`\n]*`", "", text, flags=re.M)


def anchors(page):
    """Of headings, as forges make them; of equal ones, the second has -1."""
    text = re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.M | re.S)
    found = []
    for title in re.findall(r"^#+ (.*)$", text, re.M):
        title = re.sub(r"\[(.*?)\]\(.*?\)", r"\1", title).lower()
        slug = re.sub(r"[^\w\- ]", "", title).replace(" ", "-")
        again = sum(1 for one in found if re.fullmatch(rf"{re.escape(slug)}(-\d+)?", one))
        found.append(f"{slug}-{again}" if again else slug)
    return found


def broken(page):
    for link in re.findall(r"\]\(([^()\s]+)\)", prose(page)):
        if re.match(r"https?://|\{", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists():
            yield f"{page.name}: {link}: there is no such file"
        elif anchor and anchor not in anchors(target):
            yield f"{page.name}: {link}: known are {', '.join(anchors(target))}"


def test_links_of_pages_lead_to_files_and_headings():
    assert len(PAGES) > 20
    assert not [wrong for page in PAGES for wrong in broken(page)]


def test_broken_links_are_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# A title, here\n[a](#a-title-here) [b](#title) [c](none.md) `[d](code)`\n")
    assert [wrong.split(": ")[1] for wrong in broken(page)] == ["#title", "none.md"]


def test_every_scheme_has_a_reference():
    schemes = re.findall(r"^([a-z0-9-]+)(?: |$)", output(QUORATE, "list", "schemes"), re.M)
    table = (REPOSITORY / "docs" / "citing.md").read_text()
    assert len(schemes) > 40
    assert [scheme for scheme in schemes if f"`{scheme}`" not in table] == []


def test_the_readme_counts_the_schemes():
    listed = re.findall(r"^[a-z].*(?:\n .*)*", output(QUORATE, "list", "schemes"), re.M)
    aliases = [text for text in listed if "another name of" in " ".join(text.split())]
    assert len(aliases) == 3
    words = f"{len(listed) - len(aliases)} (and three other names)"
    assert words in (REPOSITORY / "README.md").read_text()


def test_the_readme_and_the_site_put_pages_into_the_same_kinds():
    table = (REPOSITORY / "README.md").read_text().partition("## Where to read on")[2]
    site = (REPOSITORY / "docs/site/index.md").read_text()
    kinds = {"learn": "Tutorials", "do": "How to", "look up": "Reference"}
    kinds |= {"understand": "Explanation", "take part": "Take part"}
    listed = []
    for word, caption in kinds.items():
        (row,) = re.findall(rf"^\| {word} \| (.*) \|$", table, re.M)
        links = {link.removesuffix(".md") for link in re.findall(r"\]\(([^)#]+\.md)\)", row)}
        (tree,) = re.findall(rf":caption: {caption}\n.*?\n\n(.*?)```", site, re.S)
        names = [name for name in tree.split() if (REPOSITORY / f"{name}.md").exists()]
        assert links == set(names) - {"README"}, word
        listed += names
    docs = {f"docs/{page.stem}" for page in (REPOSITORY / "docs").glob("*.md")}
    assert docs <= set(listed) and len(listed) == len(set(listed))

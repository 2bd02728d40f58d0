# SPDX-License-Identifier: BSD-2-Clause
"""The image of env/Containerfile, with the program as built here: no stage that compiles."""

import json
import os
import platform
import re
import shutil

import pytest

from program import REPOSITORY, output

FILE = REPOSITORY / "env/Containerfile"
needs_builder = pytest.mark.skipif(
    not (shutil.which("buildah") and shutil.which("mmdebstrap")),
    reason="the image is built by buildah, from a base by mmdebstrap: env/deps cluster",
)


@pytest.fixture(scope="module")
def buildah(tmp_path_factory):
    """Calls buildah with a storage of its own. Isolation by chroot also works in a container."""
    folder = tmp_path_factory.mktemp("buildah")
    storage = ["--root", folder / "storage", "--runroot", folder / "run"]

    def call(*words):
        return output("buildah", *storage, *words, env={"BUILDAH_ISOLATION": "chroot"})

    yield call
    call("rm", "--all")
    call("rmi", "--all", "--force")


@pytest.fixture(scope="module")
def base(buildah, tmp_path_factory):
    """A Debian like this one, from where this one's packages come."""
    tree = tmp_path_factory.mktemp("base") / "base.tar"
    source = "deb $(REPO_URI) $(RELEASE) $(COMPONENT)"
    words = ["--format", source, "Created-By: Packages", "Origin: Debian"]
    sources = output("apt-get", "indextargets", *words)
    assert sources, "apt has no lists of Debian's packages: run apt-get update"
    suite = platform.freedesktop_os_release()["VERSION_CODENAME"]
    output(
        "mmdebstrap",
        "--quiet",
        "--variant=apt",
        "--dpkgopt=force-unsafe-io",
        suite,
        tree,
        "-",
        input=sources,
    )
    container = buildah("from", "scratch").strip()
    buildah("add", "--quiet", container, tree, "/")
    buildah("commit", "--quiet", container, "localhost/base")
    tree.unlink()
    return "localhost/base"


@pytest.fixture(scope="module")
def container(buildah, base, tmp_path_factory):
    """One of the image whose stage `build` is what make install of this build wrote."""
    built = tmp_path_factory.mktemp("built")
    output(REPOSITORY / "env/image-tree", built / "image")
    words = ["--build-arg", f"BASE={base}", "--build-context", f"build={built}"]
    buildah("build", *words, "--target", "program", "--tag", "quorate", "--file", FILE, REPOSITORY)
    return buildah("from", "localhost/quorate").strip()


@pytest.mark.whole
@needs_builder
def test_the_image_runs_the_program_as_a_normal_user(buildah, container):
    def run(*words):
        return buildah("run", container, "--", *words)

    assert run("id", "--user", "--name") == "quorate\n"
    version = output(os.environ.get("QUORATE", REPOSITORY / "build/quorate"), "--version")
    assert run("quorate", "--version") == version
    run(*"quorate generate --rows 1000 --columns 10 --seed 1 --output data.h5".split())
    words = "quorate run --data data.h5 --scheme uncoded --rounds 3 --trace trace.h5"
    run("mpiexec", "-n", "3", *words.split())
    assert '"workers": 2' in run("quorate", "inspect", "trace.h5", "--json")


def test_the_dev_container_names_a_stage_a_user_and_a_target_that_exist():
    text = (REPOSITORY / ".devcontainer/devcontainer.json").read_text()
    given, folder = json.loads(text), REPOSITORY / ".devcontainer"
    build = given["build"]
    file = (folder / build["dockerfile"]).resolve()
    assert file == FILE and (folder / build["context"]).resolve() == REPOSITORY
    stages = re.split(r"^FROM ", file.read_text(), flags=re.M)
    stage = next(one for one in stages if one.startswith(f"tools AS {build['target']}\n"))
    user = given["remoteUser"]
    assert re.search(f"useradd .* {user}\\b", stage) and re.search(f"^USER {user}$", stage, re.M)
    make, target = given["postCreateCommand"].split()
    assert make == "make"
    assert re.search(f"^{target}:", (REPOSITORY / "Makefile").read_text(), re.M)


def test_all_that_stages_copy_exists_and_so_do_their_lists_of_packages():
    text = FILE.read_text().replace("\\\n", " ")
    stages = re.findall(r"^FROM \S+ AS (\S+)", text, re.M)
    for words in re.findall(r"^COPY (.*)$", text, re.M):
        first, *rest = words.split()
        if first.startswith("--from="):
            assert first.removeprefix("--from=") in stages
        else:
            assert all((REPOSITORY / name).exists() for name in [first, *rest][:-1])
    purposes = re.findall(r"^([a-z-]+): ", (REPOSITORY / "env/packages").read_text(), re.M)
    for name in re.findall(r"^RUN \S*env/deps (\w+)", text, re.M):
        assert name in purposes

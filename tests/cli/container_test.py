# SPDX-License-Identifier: BSD-2-Clause
"""The image of env/Containerfile, with the program as built here: no stage that compiles."""

import os
import platform
import shutil

import pytest

from program import REPOSITORY, output

pytestmark = pytest.mark.skipif(
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
    file = REPOSITORY / "env/Containerfile"
    buildah("build", *words, "--target", "program", "--tag", "quorate", "--file", file, REPOSITORY)
    return buildah("from", "localhost/quorate").strip()


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

# SPDX-License-Identifier: BSD-2-Clause
"""The examples with PyTorch, at a small size."""

import lzma
import subprocess
import sys

import numpy as np
import pytest

from program import LAUNCHER, PACKAGE, REPOSITORY, TIMEOUT, environment

torch = pytest.importorskip("torch")

EXAMPLES = REPOSITORY / "examples"
SMALL = ["--layers", "1", "--width", "16", "--batch", "8", "--rounds", "10"]
TEXT = "to be or not to be, " * 200


@pytest.fixture(scope="module")
def examples():
    """Where imports find them."""
    sys.path.insert(0, str(EXAMPLES))
    yield
    sys.path.remove(str(EXAMPLES))


@pytest.fixture
def characters(examples, tmp_path, monkeypatch):
    """The example, as if it had been started with these words."""
    import characters

    def start(*words):
        monkeypatch.chdir(tmp_path)
        monkeypatch.setattr(sys, "argv", ["characters.py", *words])
        characters.main()

    characters.start = start
    return characters


def over_mpi(folder, ranks, *words):
    done = subprocess.run(
        [*LAUNCHER, "-n", str(ranks), sys.executable, *map(str, words)],
        cwd=folder,
        env=environment({"PYTHONPATH": PACKAGE, "OMP_NUM_THREADS": "1"}),
        capture_output=True,
        text=True,
        timeout=TIMEOUT,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def losses(printed):
    """The last column of a table of evaluations."""
    rows = [line.split() for line in printed.splitlines()]
    return [float(row[-1]) for row in rows if len(row) == 5 and row[0].isdigit()]


def test_characters_learns_and_leaves_a_state_that_torch_reads(characters, tmp_path, capsys):
    (tmp_path / "text.txt").write_text(TEXT)
    characters.start("--simulate", "3", "--text", "text.txt", *SMALL)
    found = losses(capsys.readouterr().out)
    assert len(found) == 5 and found == sorted(found, reverse=True)
    state = torch.load(tmp_path / "characters.pt")
    module = characters.Transformer(len(set(TEXT)), width=16, layers=1)
    module.load_state_dict(state["module"])
    assert state["scheduler"]["last_epoch"] == 10


def test_characters_reads_a_text_over_mpi(tmp_path):
    (tmp_path / "text.txt").write_text(TEXT)
    program = EXAMPLES / "characters.py"
    found = losses(over_mpi(tmp_path, 3, program, "--text", "text.txt", *SMALL))
    assert len(found) == 5 and found[-1] < found[0]


def test_the_learning_rate_rises_and_falls_by_a_cosine(characters):
    optimizer = torch.optim.SGD(torch.nn.Linear(1, 1).parameters(), lr=1.0)
    scheduler = characters.warm_up_and_cosine(100)(optimizer)
    rates = []
    for _ in range(101):
        rates.append(optimizer.param_groups[0]["lr"])
        optimizer.step()
        scheduler.step()
    assert rates[0] == 0.1 and max(rates) == rates[10] == 1
    assert rates[55] == pytest.approx(0.55) and rates[100] == pytest.approx(0.1)


def test_without_a_text_sentences_are_made(characters):
    text = characters.made(3)
    assert text == characters.made(3) and text.count(".\n") == text.count("\n") == 3


def test_images_are_read_from_records(examples, tmp_path):
    import cifar10_resnet

    record = np.arange(2 * 3073) % 10
    (tmp_path / "a.bin").write_bytes(record.astype(np.uint8).tobytes())
    with lzma.open(tmp_path / "b.bin.xz", "wb") as file:
        file.write(record[:3073].astype(np.uint8).tobytes())
    paths = [str(tmp_path / name) for name in ("a.bin", "b.bin.xz")]
    images, labels = cifar10_resnet.records(paths)
    assert images.shape == (3, 3, 32, 32) and labels.tolist() == [0, 3073 % 10, 0]
    assert images[0, 0, 0, :3].tolist() == [1, 2, 3]


def test_a_loop_of_ones_own_learns_images(tmp_path):
    words = ["--width", "4", "--batch", "60", "--rounds", "20", "--stragglers", "0"]
    printed = over_mpi(tmp_path, 4, EXAMPLES / "cifar10_resnet.py", *words)
    assert float(printed.split()[-1]) > 0.2  # 0.1 is chance


def folders(root, classes, size=(40, 30)):
    """Images of a class in a folder each: the first is dark, the next brighter."""
    from PIL import Image

    draw = np.random.default_rng(1)
    for number, name in enumerate(classes):
        (root / name).mkdir(parents=True)
        for image in range(12):
            pixels = draw.integers(120 * number, 120 * number + 60, (size[1], size[0], 3), np.uint8)
            Image.fromarray(pixels).save(root / name / f"{image}.JPEG")
        (root / name / "list.txt").write_text("not an image")
    return root


def test_resnet18_has_the_layers_of_torchvisions(examples):
    import imagenet

    assert sum(one.numel() for one in imagenet.resnet18().parameters()) == 11_689_512


def test_folders_of_images_are_trained_on(examples, tmp_path, monkeypatch, capsys):
    import imagenet

    train, test = (folders(tmp_path / name, ["dark", "light"]) for name in ("train", "val"))
    words = ["--test", test, "--simulate", 3, "--size", 32, "--width", 4, "--batch", 12]
    words += ["--stragglers", 0, "--rounds", 20]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", ["imagenet.py", str(train), *map(str, words)])
    imagenet.main()
    header, first, *_, last = [line.split() for line in capsys.readouterr().out.splitlines()]
    at = header.index("train_loss")
    assert float(last[at]) < float(first[at])
    module = imagenet.resnet18(2, width=4)
    module.load_state_dict(torch.load(tmp_path / "imagenet.pt")["module"])


def test_an_image_of_a_folder_is_its_middle_or_varies_by_torchs_seed(examples, tmp_path):
    import imagenet

    root = folders(tmp_path, ["a", "b"], size=(100, 50))
    plain, varied = (imagenet.Folders(str(root), 32, vary=vary) for vary in (False, True))
    assert len(plain) == 24 and plain[0][0].shape == (3, 32, 32) and plain[23][1] == 1
    assert torch.equal(plain[3][0], plain[3][0])
    assert plain.part(100, 50) == (28.125, 3.125, 71.875, 46.875)

    def drawn(seed):
        torch.manual_seed(seed)
        return varied[0][0]

    assert torch.equal(drawn(1), drawn(1)) and not torch.equal(drawn(1), drawn(2))
    for left, upper, right, lower in (varied.part(100, 50) for _ in range(100)):
        assert 0 <= left < right <= 100 and 0 <= upper < lower <= 50
        assert right - left == pytest.approx(lower - upper)


def test_classes_that_training_does_not_have_are_refused(examples, tmp_path):
    import imagenet

    root = folders(tmp_path, ["a", "b"])
    with pytest.raises(SystemExit, match="not some of"):
        imagenet.Folders(str(root), 32, ["a", "c"])
    (tmp_path / "empty").mkdir()
    with pytest.raises(SystemExit, match="holds the classes"):
        imagenet.Folders(str(tmp_path / "empty"), 32)

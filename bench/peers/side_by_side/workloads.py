"""What is compared: the operators, their inputs, the peers' schedules and the figures to reach."""

from dataclasses import dataclass, field

import numpy as np
from PIL import Image

WIDTH, HEIGHT = 6000, 4000
PHOTO_SIZES = {"W": WIDTH, "H": HEIGHT, "C": 3}
PHOTO_NOTE = (
    "photo: grace_hopper.jpg (U.S. Navy, public domain) of Debian's python-matplotlib-data, "
    f"cropped and resampled to {WIDTH} x {HEIGHT}"
)


@dataclass
class Workload:
    operator: str
    type: str
    sizes: dict
    peer: str
    peer_schedules: list  # candidates for the run time: the fastest is the peer
    same_schedule: str | None = None  # the one equal to ours, which gets our knobs, for the compile time
    run_target: float | None = None  # largest ratio of our time to the peer's
    compile_target: float | None = None
    threads: list = field(default_factory=lambda: [1, 0])  # 0: all cores

    @property
    def name(self):
        return f"{self.operator}/{self.type}/{self.peer}"


SQUARE = {"M": 1024, "N": 1024, "K": 1024}
WORKLOADS = [
    Workload("blur3x3", "u8", PHOTO_SIZES, "halide", ["blocks", "strips"], "staged", 1.2, 0.8),
    Workload("blur3x3", "f32", PHOTO_SIZES, "halide", ["blocks", "strips"], "blocks", 1.2, 0.8),
    Workload("unsharp", "u8", PHOTO_SIZES, "halide", ["blocks", "strips"], "staged", 1.2),
    Workload("unsharp", "f32", PHOTO_SIZES, "halide", ["blocks", "strips"], "blocks", 1.2),
    Workload("matmul", "f32", SQUARE, "halide", ["panels", "wide", "blocked"], "blocked", None, 0.8),
    # At least 0.7 of its rate is at most 1 / 0.7 of its time.
    Workload("matmul", "f32", SQUARE, "openblas", ["-"], None, 1 / 0.7, None, threads=[1]),
]

DTYPES = {"u8": np.uint8, "f32": np.float32}


def make_photo(source, folder):
    """The photo as planar bytes (c, y, x), 8-bit and as floats in [0, 1]; made once."""
    files = {t: folder / f"photo_{t}.bin" for t in DTYPES}
    if all(f.exists() for f in files.values()):
        return files
    image = Image.open(source).convert("RGB")
    height = image.width * HEIGHT // WIDTH
    top = (image.height - height) // 4
    image = image.crop((0, top, image.width, top + height))
    image = image.resize((WIDTH, HEIGHT), Image.Resampling.BICUBIC)
    planar = np.ascontiguousarray(np.asarray(image).transpose(2, 0, 1))
    planar.tofile(files["u8"])
    (planar.astype(np.float32) / np.float32(255)).tofile(files["f32"])
    return files


def make_matrices(sizes, folder):
    """Random normal A (M x K) and B (K x N), from a seed."""
    random = np.random.default_rng(2)
    files = []
    for name, shape in (("A", ("M", "K")), ("B", ("K", "N"))):
        extents = [sizes[s] for s in shape]
        files.append(folder / f"{name}_{'x'.join(map(str, extents))}.bin")
        random.standard_normal(extents).astype(np.float32).tofile(files[-1])
    return files


def compare_outputs(work, inputs, ours, theirs):
    """None, or what is wrong. Integers must be equal; floats within what rounding allows."""
    ours, theirs = (np.fromfile(f, DTYPES[work.type]) for f in (ours, theirs))
    if work.type == "u8":
        different = np.count_nonzero(ours != theirs)
        return f"{different} samples differ" if different else None
    if work.operator == "matmul":
        # The exact product, and the first-order bound of a sum of K products in any order.
        a, b = (np.fromfile(f, np.float32).astype(np.float64) for f in inputs)
        a, b = a.reshape(work.sizes["M"], -1), b.reshape(work.sizes["K"], -1)
        bound = work.sizes["K"] * 2.0**-24 * (np.abs(a) @ np.abs(b))
        worst = [np.max(np.abs(c.reshape(bound.shape) - a @ b) / bound) for c in (ours, theirs)]
        return None if max(worst) <= 1 else f"errors of {worst[0]:.3g} and {worst[1]:.3g} times the bound"
    # Samples are in [0, 1] and some 25 operations of at most 2.5 in value make one: 64 units of 2^-24 each way.
    worst = float(np.max(np.abs(ours - theirs)))
    return None if worst <= 128 * 2.0**-24 else f"outputs differ by up to {worst:.3g}"

"""What is compared: the operators, their inputs, the peers' schedules and the figures to reach."""

from dataclasses import dataclass, field

import numpy as np
from PIL import Image

WIDTH, HEIGHT = 6000, 4000
PHOTO_SIZES = {"W": WIDTH, "H": HEIGHT, "C": 3}
# 4 megapixels, for operators of many stages; without C where there are always 3 channels.
SMALL_SIZES = {"W": 2560, "H": 1536}
GRAY_SIZES = SMALL_SIZES | {"C": 1}
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
        return f"{self.operator}/{self.short_type}/{self.peer}"

    @property
    def short_type(self):
        """The element type, or the output's where arguments have types of their own."""
        return self.type.rsplit("=", 1)[-1]


# 5 pictures of 80 x 100 output pixels, 128 channels in and out.
PICTURES = {"CI": 128, "CO": 128, "W": 102, "H": 82, "N": 5, "KW": 3, "KH": 3}
SQUARE = {"M": 1024, "N": 1024, "K": 1024}
WORKLOADS = [
    Workload("blur3x3", "u8", PHOTO_SIZES, "halide", ["blocks", "strips"], "staged", 1.15, 0.8),
    Workload("blur3x3", "f32", PHOTO_SIZES, "halide", ["blocks", "strips"], "blocks", 1.15, 0.8),
    Workload("unsharp", "u8", PHOTO_SIZES, "halide", ["blocks", "strips"], "staged", 1.15),
    Workload("unsharp", "f32", PHOTO_SIZES, "halide", ["blocks", "strips"], "blocks", 1.15),
    Workload("local_laplacian", "u8", SMALL_SIZES, "halide", ["levels", "fused"], "levels", 1.15, 1.0),
    Workload("bilateral_grid", "f32", GRAY_SIZES, "halide", ["rows", "stages"], "rows", 1.15),
    Workload(
        "camera_pipe", "raw=u16,photo=u8", SMALL_SIZES, "halide", ["strips", "narrow"], "strips", 1.15
    ),
    Workload("stencil_chain", "u16", GRAY_SIZES, "halide", ["windows", "tiles"], "windows", 1.15),
    Workload("matmul", "f32", SQUARE, "halide", ["panels", "wide", "blocked"], "blocked", 1.15, 0.8),
    # At least 0.7 of its rate is at most 1 / 0.7 of its time.
    Workload("matmul", "f32", SQUARE, "openblas", ["-"], None, 1 / 0.7, None, threads=[1]),
    Workload("conv2d_nhwc_relu", "f32", PICTURES, "halide", ["tiles", "wide"], "tiles", 1.15),
]

# NumPy shapes of the inputs, by the names of sizes, of operators that take random numbers; the others take the photo.
SHAPES = {
    "matmul": {"A": ("M", "K"), "B": ("K", "N")},
    "conv2d_nhwc_relu": {"x": ("N", "H", "W", "CI"), "weights": ("KH", "KW", "CI", "CO"), "bias": ("CO",)},
}

DTYPES = {"u8": np.uint8, "u16": np.uint16, "f32": np.float32}


def photo_at(source, width, height):
    """The photo cropped and resampled, as bytes (c, y, x)."""
    image = Image.open(source).convert("RGB")
    cropped = image.width * height // width
    top = (image.height - cropped) // 4
    image = image.crop((0, top, image.width, top + cropped))
    image = image.resize((width, height), Image.Resampling.BICUBIC)
    return np.ascontiguousarray(np.asarray(image).transpose(2, 0, 1))


def raw_of(photo):
    """What a sensor with a mosaic of green and red, blue and green in turn would see of it: 10 bits, 64 is black."""
    levels = np.round(64 + 959 * (photo / 255.0) ** 2.2).astype(np.uint16)
    raw = levels[1].copy()
    raw[0::2, 1::2] = levels[0][0::2, 1::2]
    raw[1::2, 0::2] = levels[2][1::2, 0::2]
    return raw


def make_photo(work, source, folder):
    """The file with the image that an operator takes, planar; made once for each size and type."""
    width, height = work.sizes["W"], work.sizes["H"]
    channels = work.sizes.get("C", 3)
    kind = "raw" if work.type.startswith("raw=") else work.type
    file = folder / f"photo_{kind}_{width}x{height}x{channels}.bin"
    if not file.exists():
        photo = photo_at(source, width, height)
        if kind == "raw":
            photo = raw_of(photo)
        elif channels == 1:
            photo = photo[1:2]
        if kind == "u16":
            photo = photo.astype(np.uint16) * 257
        elif kind == "f32":
            photo = photo.astype(np.float32) / np.float32(255)
        photo.tofile(file)
    return file


def make_arrays(work, shapes, folder):
    """Random normal inputs, from a seed."""
    random = np.random.default_rng(2)
    files = []
    for name, shape in shapes.items():
        extents = [work.sizes[s] for s in shape]
        files.append(folder / f"{work.operator}_{name}_{'x'.join(map(str, extents))}.bin")
        random.standard_normal(extents).astype(np.float32).tofile(files[-1])
    return files


def read_arrays(work, files):
    """The inputs in float64."""
    for file, shape in zip(files, SHAPES[work.operator].values()):
        yield np.fromfile(file, np.float32).astype(np.float64).reshape([work.sizes[s] for s in shape])


def convolution(x, weights, bias):
    """N x H x W x C, without padding."""
    kernel_height, kernel_width = weights.shape[:2]
    height, width = x.shape[1] - kernel_height + 1, x.shape[2] - kernel_width + 1
    result = np.broadcast_to(bias, (x.shape[0], height, width, bias.size)).copy()
    for j in range(kernel_height):
        for i in range(kernel_width):
            result += x[:, j : j + height, i : i + width] @ weights[j, i]
    return result


def compare_outputs(work, inputs, ours, theirs):
    """None, or what is wrong. Integers must be equal; floats within what rounding allows."""
    ours, theirs = (np.fromfile(f, DTYPES[work.short_type]) for f in (ours, theirs))
    if work.operator == "local_laplacian":
        # The result of some hundred operations in f32 is rounded to bytes: where the peer rounds products and sums
        # at once it may come out on the other side of a half.
        distance = np.abs(ours.astype(int) - theirs.astype(int))
        apart = np.count_nonzero(distance)
        good = distance.max() <= 1 and apart <= ours.size / 10000
        return None if good else f"{apart} samples differ, by up to {distance.max()}"
    if work.short_type != "f32":
        different = np.count_nonzero(ours != theirs)
        return f"{different} samples differ" if different else None
    if work.operator in SHAPES:
        # The exact result, and the first-order bound of its sums in any order.
        arrays = list(read_arrays(work, inputs))
        if work.operator == "matmul":
            terms, exact, size = work.sizes["K"], arrays[0] @ arrays[1], np.abs(arrays[0]) @ np.abs(arrays[1])
        else:
            terms = arrays[1][..., 0].size + 1
            exact = np.maximum(convolution(*arrays), 0)
            size = convolution(*map(np.abs, arrays))
        bound = terms * 2.0**-24 * size
        worst = [np.max(np.abs(c.reshape(exact.shape) - exact) / bound) for c in (ours, theirs)]
        return None if max(worst) <= 1 else f"errors of {worst[0]:.3g} and {worst[1]:.3g} times the bound"
    # Samples are in [0, 1] and some 25 operations of at most 2.5 in value make one (bilateral_grid: 50 of numbers
    # that are all positive): 64 units of 2^-24 each way.
    worst = float(np.max(np.abs(ours - theirs)))
    return None if worst <= 128 * 2.0**-24 else f"outputs differ by up to {worst:.3g}"

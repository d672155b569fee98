"""Puts together a folder that runs on another machine: the statically linked build, the libraries it still needs, the scripts."""

import ctypes
import re
import shutil
import subprocess
import tarfile
from pathlib import Path

BENCHMARKS = Path(__file__).resolve().parents[1]
#: Left to the other machine: the C and C++ runtimes, which belong to its system.
SYSTEM = re.compile(r"^(ld-linux|lib(c|m|dl|rt|pthread|stdc\+\+|gcc_s)\.so)")
#: Opened by the program; this one only where the machine has none: a GPU driver brings its own.
LOADER = "libOpenCL.so.1"


def pack(program: Path, target: Path, models: list[Path]) -> str:
    """Fills the folder `target`, or writes it as an archive when its name ends in .tar.gz. Returns what to do with it."""
    is_archive = target.name.endswith(".tar.gz")
    folder = target.with_name(target.name.removesuffix(".tar.gz")) if is_archive else target
    if folder.exists():
        raise SystemExit(f"{folder} exists already")
    needed = libraries(program)
    build = folder / "build"
    (build / "lib").mkdir(parents=True)
    (build / "opencl").mkdir()
    (folder / "models").mkdir()
    for name, path in needed.items():
        shutil.copy(path, build / "lib" / name)
    shutil.copy(loader(), build / "opencl" / LOADER)
    shutil.copy(program, build / "needletail")
    if shutil.which("strip"):
        subprocess.run(["strip", str(build / "needletail")], check=True)
    for model in models:
        shutil.copy(model, folder / "models")
    for part in ("gpu_check.py", "gpu", "networks"):
        source = BENCHMARKS / part
        copy = shutil.copytree if source.is_dir() else shutil.copy
        copy(source, folder / part, **({"ignore": shutil.ignore_patterns("__pycache__")} if source.is_dir() else {}))
    run = "python3 gpu_check.py run --output result.json"
    if not is_archive:
        return f"copy {folder} to the machine and run there: {run}"
    with tarfile.open(target, "w:gz") as archive:
        archive.add(folder, folder.name)
    shutil.rmtree(folder)
    return f"copy {target} to the machine and run there: python3 -m tarfile -e {target.name} . && cd {folder.name} && {run}"


def loader() -> str:
    """The file of this machine's OpenCL loader. Raises SystemExit when it has none."""
    try:
        ctypes.CDLL(LOADER)
    except OSError as error:
        raise SystemExit(f"{LOADER} is to be packed: {error}")
    name = LOADER.partition(".so")[0]
    return next(line.split()[-1] for line in Path("/proc/self/maps").read_text().splitlines() if f"/{name}.so" in line)


def libraries(program: Path) -> dict[str, str]:
    """The shared libraries that a program needs beyond the system's, by name. Raises SystemExit when it is not linked statically."""
    listing = subprocess.run(["ldd", str(program)], capture_output=True, text=True)
    if listing.returncode != 0:
        raise SystemExit(f"ldd {program}: {listing.stderr.strip()}")
    found = {}
    for line in listing.stdout.splitlines():
        name, arrow, path = line.strip().partition(" => ")
        if not arrow or SYSTEM.match(name):
            continue
        if "not found" in path:
            raise SystemExit(f"{program} needs {name}, which is not here")
        if "swift" in name.lower() or "Foundation" in name:
            raise SystemExit(f"{program} needs {name}: build it with `swift build -c release --static-swift-stdlib --product needletail`")
        found[name] = path.split(" (")[0]
    return found

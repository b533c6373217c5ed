"""Builds the wheel of Longpole: the Python package, Longpole's program, and the npm packages that the program needs.

This is a build backend as PEP 517 describes it, without dependencies. It needs Python 3.11, for its reader of TOML, and a
checkout in which `npm ci && npm run build` has run. The wheel is the same for every platform: packages with binaries stay
out (docs/decisions/the-wheel.md). Run as a program, `python longpole_backend.py FOLDER` writes the wheel to a folder.
"""

import base64
import hashlib
import json
import os
import sys
import tomllib
import zipfile
from pathlib import Path

PYTHON = Path(__file__).resolve().parent.parent
ROOT = PYTHON.parent
#: npm packages with binaries, or that only serve these. Observing Dask and reading traces needs none.
LEFT_OUT = {"esbuild", "koffi", "lz4-napi", "tsx"}
#: Endings of the files of an npm package that Node reads, or that must go with it.
KEPT = (".js", ".cjs", ".mjs", ".json", "LICENSE", "LICENSE.md", "LICENSE.txt", "NOTICE")
#: Where the program is in the package. `longpole/_program.py` finds it there.
PROGRAM = "longpole/_node"
#: Time of all files, the earliest that a ZIP file can have. The same input gives the same wheel.
TIME = (1980, 1, 1, 0, 0, 0)


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Writes the wheel to a folder and returns the name of its file."""
    return write_wheel(wheel_directory, {**python_files(), **program_files()})


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """Writes a wheel that refers to this checkout, for `pip install --editable`."""
    return write_wheel(wheel_directory, {"longpole.pth": f"{PYTHON}\n".encode()})


def write_wheel(folder, files):
    project = tomllib.loads((PYTHON / "pyproject.toml").read_text("utf-8"))["project"]
    version = manifest(ROOT)["version"]
    name = f"{project['name']}-{version}"
    info = f"{name}.dist-info"
    files = {
        **files,
        f"{info}/METADATA": metadata(project, version).encode(),
        f"{info}/WHEEL": b"Wheel-Version: 1.0\nGenerator: longpole\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/entry_points.txt": entry_points(project).encode(),
        f"{info}/licenses/LICENSE": (ROOT / "LICENSE").read_bytes(),
    }
    record = [f"{path},{digest(data)},{len(data)}" for path, data in sorted(files.items())]
    files[f"{info}/RECORD"] = "\n".join([*record, f"{info}/RECORD,,", ""]).encode()
    file = f"{name}-py3-none-any.whl"
    os.makedirs(folder, exist_ok=True)
    with zipfile.ZipFile(Path(folder) / file, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as wheel:
        for path, data in files.items():
            entry = zipfile.ZipInfo(path, TIME)
            entry.external_attr = 0o100644 << 16
            wheel.writestr(entry, data, zipfile.ZIP_DEFLATED)
    return file


def metadata(project, version):
    lines = [
        "Metadata-Version: 2.4",
        f"Name: {project['name']}",
        f"Version: {version}",
        f"Summary: {project['description']}",
        f"Keywords: {','.join(project['keywords'])}",
        f"License-Expression: {project['license']}",
        "License-File: LICENSE",
        *(f"Classifier: {one}" for one in project["classifiers"]),
        f"Requires-Python: {project['requires-python']}",
    ]
    for extra, needed in project["optional-dependencies"].items():
        lines.append(f"Provides-Extra: {extra}")
        lines.extend(f'Requires-Dist: {one} ; extra == "{extra}"' for one in needed)
    return "\n".join([*lines, ""])


def entry_points(project):
    commands = "".join(f"{name} = {target}\n" for name, target in project["scripts"].items())
    return f"[console_scripts]\n{commands}"


def digest(data):
    return "sha256=" + base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()


def python_files():
    """Returns the modules of both packages by their path in the wheel. The program has its own copy of longpole_dask."""
    files = [file for package in ("longpole", "longpole_dask") for file in sorted((PYTHON / package).iterdir())]
    return {file.relative_to(PYTHON).as_posix(): file.read_bytes() for file in files if file.is_file()}


def program_files():
    """Returns the files of the program by their path in the wheel."""
    if not (ROOT / "dist" / "bundle" / "main.js").is_file():
        raise SystemExit(f"{ROOT} is not built. Run there: npm ci && npm run build")
    files = [ROOT / "package.json", *sorted((PYTHON / "longpole_dask").glob("*.py"))]
    files += [file for file in walk(ROOT / "dist") if is_shipped(file.relative_to(ROOT / "dist").as_posix())]
    for package in packages(ROOT, set()):
        files += [file for file in walk(package) if file.name.endswith(KEPT)]
    return {f"{PROGRAM}/{file.relative_to(ROOT).as_posix()}": file.read_bytes() for file in files}


def is_shipped(path):
    """Returns whether Node needs a file of `dist`: the bundle, the pages and the examples."""
    is_module = path.endswith((".js", ".cjs")) and path.startswith(("bundle/", "examples/"))
    return (is_module or path.endswith(".html")) and ".test." not in path


def packages(importer, found):
    """Returns the folders of the npm packages that a package imports, and of those that these import."""
    for name in manifest(importer).get("dependencies", {}):
        folder = folder_of(name, importer)
        if name in LEFT_OUT or name.startswith("@types/") or folder in found:
            continue
        found.add(folder)
        packages(folder, found)
    return sorted(found)


def folder_of(name, importer):
    """Returns the folder of an npm package, as Node finds it."""
    for folder in (importer, *importer.parents):
        package = folder / "node_modules" / name
        if package.is_dir():
            return package
        if folder == ROOT:
            break
    raise SystemExit(f"The npm package {name} is missing. Run in {ROOT}: npm ci")


def walk(folder):
    """Returns all files below a folder, without those of nested npm packages."""
    for place, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if name != "node_modules")
        yield from (Path(place) / name for name in sorted(names))


def manifest(folder):
    return json.loads((folder / "package.json").read_text("utf-8"))


if __name__ == "__main__":
    target = sys.argv[1] if len(sys.argv) > 1 else "."
    print(Path(target) / build_wheel(target))

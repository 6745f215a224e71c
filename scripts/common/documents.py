"""documents.py - JSON files, read, and written in one step; the two ways to refuse an input.

A file NAME may be compressed as NAME.xz, and a folder DIR of many files packed as DIR.tar.xz. If
DIR/NAME does not exist, these are searched.
"""

import functools
import json
import lzma
import os
import tarfile


class BadInput(Exception):
    """An input that cannot be used: one line that names the file and the fix."""


class Unfit(Exception):
    """Valid numbers from a machine that was too disturbed: one line, exit 3."""


@functools.lru_cache(maxsize=8)
def packed(archive):
    """{name: text} of an archive."""
    try:
        with tarfile.open(archive, "r:xz") as files:
            return {member.name: files.extractfile(member).read().decode("utf-8")
                    for member in files if member.isfile()}
    except (tarfile.TarError, lzma.LZMAError, EOFError, UnicodeDecodeError) as error:
        raise BadInput(f"{archive}: damaged ({error}); download it again") from None


def expanded(path):
    """The text of a compressed file."""
    try:
        with lzma.open(path, "rt", encoding="utf-8") as file:
            return file.read()
    except (lzma.LZMAError, EOFError, UnicodeDecodeError) as error:
        raise BadInput(f"{path}: damaged ({error}); download it again") from None


def is_there(path):
    """Is there a file, compressed or not?"""
    return os.path.exists(path) or os.path.exists(f"{path}.xz")


def read_text(path):
    """The text of a file, compressed or not, or in its folder's archive; OSError as from open()."""
    try:
        with open(path, encoding="utf-8") as file:
            return file.read()
    except FileNotFoundError:
        if os.path.exists(f"{path}.xz"):
            return expanded(f"{path}.xz")
        folder, name = os.path.split(path)
        archive = f"{folder}.tar.xz"
        if os.path.exists(archive) and name in packed(archive):
            return packed(archive)[name]
        raise


def compress(path):
    """Puts a file's text into NAME.xz, and takes the file away."""
    text = read_text(path)
    with lzma.open(f"{path}.xz.partial", "wt", preset=9 | lzma.PRESET_EXTREME,
                   encoding="utf-8") as file:
        file.write(text)
    os.replace(f"{path}.xz.partial", f"{path}.xz")
    os.remove(path)


def pack(folder):
    """Puts the files of a folder into its archive, and takes the folder away. The same files make
    the same archive."""
    archive_path = f"{folder}.tar.xz"
    if os.path.exists(archive_path):
        raise BadInput(f"{archive_path}: already exists; remove it, or remove {folder}")
    names = sorted(os.listdir(folder))
    with lzma.open(f"{archive_path}.partial", "wb", preset=9 | lzma.PRESET_EXTREME) as file, \
            tarfile.open(fileobj=file, mode="w") as archive:
        for name in names:
            member = tarfile.TarInfo(name)
            with open(os.path.join(folder, name), "rb") as content:
                member.size = os.fstat(content.fileno()).st_size
                archive.addfile(member, content)
    os.replace(f"{archive_path}.partial", archive_path)
    for name in names:
        os.remove(os.path.join(folder, name))
    os.rmdir(folder)


def read_json(path):
    """The document in a file; BadInput names the file, the place and the fix."""

    def refuse(word):
        raise BadInput(f"{path}: {word} is not JSON; repeat that launch")

    try:
        text = read_text(path)
    except FileNotFoundError:
        raise BadInput(f"{path}: no such file; give a result folder or a benchmark JSON "
                       "file") from None
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8 text"
        raise BadInput(f"{path}: cannot be read ({reason}); check the name and its "
                       "permissions") from None
    try:
        return json.loads(text, parse_constant=refuse)
    except json.JSONDecodeError as error:
        raise BadInput(f"{path}: damaged JSON at offset {error.pos} (line {error.lineno}, column "
                       f"{error.colno}: {error.msg}); measure again or remove the file") from None
    except RecursionError:
        raise BadInput(f"{path}: damaged JSON, nested too deeply; measure again or remove the "
                       "file") from None


def write_text(path, text):
    """Write a file in one step: a reader sees the old one or the new one, never a half."""
    partial = f"{path}.partial"
    try:
        with open(partial, "w", encoding="utf-8") as file:
            file.write(text)
    except OSError as error:  # which does not say what it wrote
        if os.path.exists(partial):
            os.remove(partial)
        raise OSError(error.errno, error.strerror, path) from None
    os.replace(partial, path)


def write_json(path, document):
    """As write_text, for a JSON document; NaN is refused."""
    write_text(path, json.dumps(document, indent=1, allow_nan=False) + "\n")


def is_number(value):
    """A JSON number; JSON's true and false are not."""
    return isinstance(value, (int, float)) and not isinstance(value, bool)

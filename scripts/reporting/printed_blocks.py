"""printed_blocks.py - blocks of documents that show what a command prints of the results.

A block between `<!-- printed -->` and `<!-- end -->` is ```console: lines `$ COMMAND`, continued
after a pipe or a backslash, each followed by its output. The commands run from the top of the
project.
"""

import re
import subprocess

BLOCK = re.compile(r"(<!-- printed -->\n```console\n)(.*?)(```\n<!-- end -->)", re.DOTALL)
COMMAND = re.compile(r"^\$ (?:[^\n]*[|\\]\n)*[^\n]*\n", re.MULTILINE)


def printed_now(block, top):
    """The block with the outputs of now."""
    text = ""
    for command in COMMAND.findall(block):
        done = subprocess.run(command[2:], shell=True, cwd=top, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, text=True, check=False)
        text += command + done.stdout
    return text


def check(document, top):
    """([fault], the document with the outputs of now)"""
    faults = []

    def replaced(found):
        now = printed_now(found[2], top)
        if now != found[2]:
            line = document.count("\n", 0, found.start(2)) + 1
            faults.append(f"line {line}: the block is now other than printed there: "
                          f"{found[2].splitlines()[0]}")
        return found[1] + now + found[3]
    return faults, BLOCK.sub(replaced, document)

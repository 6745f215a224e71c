"""pages_headers.py - a public header as a page: its comments as text, its declarations as code."""

import html
import re

# Comments that begin a line, and what stands between them.
COMMENT = re.compile(r"^/\*.*?\*/[ \t]*\n", re.DOTALL | re.MULTILINE)
NOISE = re.compile(r"^#ifdef __cplusplus\n.*?^#endif\n|^#(?:ifndef|define) PFSLAB_\w+_H\n",
                   re.DOTALL | re.MULTILINE)
FIELD = re.compile(r"(Returns|Errors|Progress|Order|Cost|Source)\s{2,}(.*)")
# What is declared: a function, a type, a macro; each is an anchor.
DECLARED = re.compile(r"^(?:[A-Za-z_][\w\s*]*?[\s*](?P<function>\w+)\s*\((?!\*)"
                      r"|(?:struct|enum|union)\s+(?P<type>\w+)\s*(?=\{)"
                      r"|#define\s+(?P<macro>PFS_\w+))", re.MULTILINE)


def prose(lines):
    """Lines of a comment: paragraphs, indented code, and the fields of a call's block."""
    out, paragraph, code, fields, items = [], [], [], [], []

    def flush():
        if paragraph:
            text = html.escape(" ".join(paragraph), quote=False)
            out.append("<p>" + re.sub(r"\b(pfs_\w+)\b", r"<code>\1</code>", text) + "</p>")
            paragraph.clear()
        if code:
            out.append("<pre>" + html.escape("\n".join(code), quote=False) + "</pre>")
            code.clear()
        if fields:
            rows = "".join(f"<dt>{name}</dt><dd>{html.escape(text, quote=False)}</dd>"
                           for name, text in fields)
            out.append(f"<dl>{rows}</dl>")
            fields.clear()
        if items:
            rows = "".join(f"<li>{html.escape(text, quote=False)}</li>" for text in items)
            out.append(f"<ul>{rows}</ul>")
            items.clear()

    for line in lines:
        field = FIELD.match(line)
        if field:
            if paragraph or code:
                flush()
            fields.append((field[1], field[2]))
        elif fields and line.startswith("   "):
            fields[-1] = (fields[-1][0], fields[-1][1] + " " + line.strip())
        elif not line.strip():
            flush()
        elif line.lstrip().startswith("- "):
            if paragraph or code or fields:
                flush()
            items.append(line.strip()[2:])
        elif items and line.startswith("\t"):
            items[-1] += " " + line.strip()
        elif line.startswith("\t") and not fields:
            if paragraph:
                flush()
            code.append(line.strip("\t"))
        else:
            if code or fields or items:
                flush()
            paragraph.append(line.strip())
    flush()
    return "".join(out)


def comment_lines(comment):
    """The text of a comment, without its stars."""
    inner = comment.strip()[2:-2]
    return [re.sub(r"^ \*(?: |$)?", "", line).rstrip() for line in inner.strip("\n").split("\n")]


def code(text, names):
    """Declarations, each name an anchor."""
    def mark(found):
        name = found["function"] or found["type"] or found["macro"]
        if name in names:
            return html.escape(found[0], quote=False)
        names.append(name)
        head, tail = found[0].rsplit(name, 1)
        return (f'{html.escape(head, quote=False)}<b id="{name}">{name}</b>'
                f"{html.escape(tail, quote=False)}")

    out, at = [], 0
    for found in DECLARED.finditer(text):
        out += [html.escape(text[at:found.start()], quote=False), mark(found)]
        at = found.end()
    out.append(html.escape(text[at:], quote=False))
    return "".join(out)


def page(name, text):
    """(title, body, names) of a header."""
    text = text.replace("/* SPDX-License-Identifier: BSD-2-Clause */\n", "", 1)
    names, parts, at = [], [], 0
    pieces = list(COMMENT.finditer(text))
    for number, found in enumerate(pieces):
        between = text[at:found.start()] if number else ""
        parts.append((None, between))
        parts.append((comment_lines(found[0]), None))
        at = found.end()
    parts.append((None, text[at:]))
    body = [f"<h1><code>#include &lt;pfslab/{name}&gt;</code></h1>"]
    for lines, declared in parts:
        if lines is not None:
            body.append("<section>" + prose(lines))
            continue
        kept = NOISE.sub("", declared)
        kept = re.sub(r"\n{3,}", "\n\n", re.sub(r"#endif\s*\Z", "", kept)).strip("\n")
        if kept.strip():
            body.append(f"<pre>{code(kept, names)}</pre>")
    return name, re.sub(r"<section>", "</section><section>", "".join(body)).replace(
        "</section>", "", 1) + "</section>", names

"""What to do with files that are neither lines of text nor translated as they are."""

SAVED_AS = {
    **dict.fromkeys((".doc", ".rtf", ".pdf"), ".docx or .odt"),
    ".docm": ".docx",
    **dict.fromkeys((".ppt", ".pptm"), ".pptx"),
    **dict.fromkeys((".xls", ".xlsm"), ".xlsx"),
    **dict.fromkeys((".mobi", ".azw3"), ".epub"),
    **dict.fromkeys((".ass", ".ssa", ".sub"), ".srt"),
}
"""As which a document can be translated that cannot be as it is."""

_TO_PO = {
    ".ini": "ini2po",
    ".php": "php2po",
    ".rc": "rc2po",
    ".resx": "resx2po",
    ".idml": "idml2po",
    ".ts": "ts2po",
    **dict.fromkeys((".yaml", ".yml"), "yaml2po"),
    **dict.fromkeys((".properties", ".strings"), "prop2po"),
}
"""Programs that make PO of files in which programs have their texts."""

_TURNED = {
    ".ipynb": "turn it into a .md file and back with jupytext",
    ".mdx": "let its name end in .md if there are no components in it",
    ".rst": "turn it into .pot files with sphinx-build -b gettext, or into a .md file with pandoc",
    **dict.fromkeys(
        (".adoc", ".asciidoc", ".tex", ".texi", ".org", ".pod"),
        "turn it into a .po file and back with po4a",
    ),
}

PROGRAMS = (
    *(".c", ".cc", ".cpp", ".css", ".go", ".h", ".hpp", ".java", ".js", ".jsx", ".kt", ".mjs"),
    *(".py", ".r", ".rb", ".rs", ".scss", ".sql", ".svelte", ".svg", ".swift", ".tsx", ".vue"),
    *(".bib", ".cfg", ".conf", ".ftl", ".plist", ".toml", ".xcstrings"),
)
"""Endings of programs and of their settings, of which each line would be translated.

Those that are also codes of languages are not here, such as `.pl` and `.cs`: lines of text in
these languages have them, too.
"""


def other_way(ending: str) -> str | None:
    """Say how the text of a file can be translated that is not as it is; None if no way is known.

    >>> other_way(".resx"), other_way(".txt")
    ('turn it into a .po file and back with resx2po and po2resx (Translate Toolkit)', None)
    """
    if ending in SAVED_AS:
        return f"save it as {SAVED_AS[ending]}"
    if ending in _TO_PO:
        there, back = _TO_PO[ending], "po2" + _TO_PO[ending].removesuffix("2po")
        return f"turn it into a .po file and back with {there} and {back} (Translate Toolkit)"
    return _TURNED.get(ending)

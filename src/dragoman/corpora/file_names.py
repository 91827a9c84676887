"""What the name of a file says about its content."""

from pathlib import Path

JSON_LINES = (".jsonl", ".ndjson")
TMX, TBX, CSV, PO = ".tmx", ".tbx", ".csv", ".po"
XLIFF = (".xlf", ".xliff", ".sdlxliff", ".mqxliff", ".mxliff", ".txlf")
LOCALISATION = (TMX, TBX, PO, *XLIFF)
"""What keeps texts beside their translations, and says in which languages."""

PROVENANCE = "corpus.toml"
"""Marks the directory of a downloaded corpus."""

OTHER_FORMATS = (
    *(*LOCALISATION, CSV, ".xls", ".xlsx", ".ods"),
    *(".pot", ".srt", ".vtt", ".ass", ".ssa", ".sub", ".xml", ".json", ".parquet", ".yaml", ".yml"),
    *(".properties", ".strings", ".resx", ".idml", ".html", ".htm", ".xhtml"),
    *(".doc", ".docx", ".docm", ".odt", ".ppt", ".pptx", ".pptm", ".odp", ".odg", ".xlsm"),
    *(".rtf", ".pdf", ".epub", ".mobi", ".azw3", ".tex", ".ipynb", ".eml", ".msg"),
)
"""Endings of files that people keep texts in, but that would be misread line by line."""

_PAIRS_FROM = {
    (".xls", ".xlsx", ".ods"): (
        "save the sheet as CSV UTF-8 (.csv), with two columns: source and translation"
    ),
    (".sdltm",): "export the translation memory as TMX (.tmx)",
    (".sdltb", ".mtf"): "export the termbase as TBX (.tbx), or as CSV (.csv) with two columns",
    (".pot",): "a template has no translations; name the .po file of a language",
    (".srt", ".vtt", ".ass", ".ssa", ".sub"): (
        "write the spoken text into two plain files, each line the translation of the line with "
        "the same number, and name them as source and target of a recipe"
    ),
    (".parquet",): "put it into a directory of its own and write hf: before the name of that",
    (".json", ".arb"): (
        "write each record on a line of its own (.jsonl), as jq -c '.[]' does with a list; two "
        "catalogues of messages make a .po file, as json2po -t en.json it.json it.po does"
    ),
    (".xz", ".bz2"): "unpack it, or compress what is in it with gzip or zstd",
    (".zip", ".7z", ".rar", ".tar", ".tgz"): (
        "unpack it and name the file in it; a corpus of OPUS has two plain files, which are source "
        "and target of a recipe"
    ),
}
_PAIRS_AT_ALL = "save the pairs as TSV, a line each (source TAB target), or as CSV (.csv)"


def pairs_instead(ending: str) -> str | None:
    """Say what to do with a file that no pairs can be read from; None for other endings.

    >>> pairs_instead(".xz"), pairs_instead(".tsv")
    ('unpack it, or compress what is in it with gzip or zstd', None)
    """
    ways = (way for endings, way in _PAIRS_FROM.items() if ending in endings)
    has_pairs = ending in (*LOCALISATION, CSV) or ending not in OTHER_FORMATS
    return next(ways, None if has_pairs else _PAIRS_AT_ALL)


def ending(path: Path) -> str:
    """Return the last ending of a name in lower case, ignoring that of the compression.

    >>> ending(Path("memory.TMX.gz")), ending(Path("news.en")), ending(Path("text"))
    ('.tmx', '.en', '')
    """
    return Path(path.name.lower().removesuffix(".gz").removesuffix(".zst")).suffix

"""Content controls of Word whose text stands in the file a second time, as data."""

from dragoman.documents.paragraph import Element, name_of

_TRANSLATED = ("title[1]", "subject[1]", "description[1]")
"""Properties of a document that are translated as its controls are."""

_WITH_DATA = ("dropDownList", "comboBox", "checkbox", "showingPlcHdr")
"""Kinds of controls in which data says what is chosen, and the control how that is called; and what
says that nothing has been filled in yet."""


def disconnect_controls(root: Element) -> None:
    """Take controls off data that stays: Word would show it in place of their translations."""
    for binding in root.findall(".//{*}sdt/{*}sdtPr/{*}dataBinding"):
        properties = binding.getparent()
        text = "".join(said.text or "" for said in properties.getparent().iter("{*}t"))
        stays = any(name_of(child) in _WITH_DATA for child in properties)
        paths = (value for name, value in binding.attrib.items() if name.endswith("}xpath"))
        is_translated = any("coreProperties" in p and p.endswith(_TRANSLATED) for p in paths)
        if any(map(str.isalpha, text)) and not stays and not is_translated:
            properties.remove(binding)

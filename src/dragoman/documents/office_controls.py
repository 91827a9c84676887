"""Content controls of Word whose text stands in the file a second time, as data."""

from dragoman.documents.paragraph import Element, name_of

_TRANSLATED = ("title[1]", "subject[1]", "description[1]")
"""Properties of a document that are translated as its controls are."""

_WITH_CHOICES = ("dropDownList", "comboBox", "checkbox")
"""Kinds of controls in which data says what is chosen, and the control how that is called."""


def disconnect_controls(root: Element) -> None:
    """Take controls off data that stays: Word would show it in place of their translations."""
    for binding in list(root.iter("{*}dataBinding")):
        properties = binding.getparent()
        text = "".join(said.text or "" for said in properties.getparent().iter("{*}t"))
        has_choices = any(name_of(child) in _WITH_CHOICES for child in properties)
        paths = (value for name, value in binding.attrib.items() if name.endswith("}xpath"))
        is_translated = any("coreProperties" in p and p.endswith(_TRANSLATED) for p in paths)
        if any(map(str.isalpha, text)) and not has_choices and not is_translated:
            properties.remove(binding)

import re
from importlib.resources import files

import pytest

from dragoman.corpora.primer.italian import agree
from dragoman.corpora.primer.lexicon import lexicon
from dragoman.corpora.primer.splits import split_of_combination
from dragoman.corpora.primer.tables import LexiconError, parse_table, read_table

TABLES = [
    file.name
    for file in files("dragoman.corpora.primer").iterdir()
    if file.name.endswith(".tsv") and file.name != "phrasebook.tsv"
]


@pytest.mark.parametrize("name", TABLES)
def test_every_table_is_filled(name: str) -> None:
    rows = read_table(name)
    assert rows
    assert all(cell == cell.strip() for row in rows for cell in row.values())


def test_a_row_with_a_missing_column_is_refused_by_line() -> None:
    with pytest.raises(LexiconError, match=r"birds\.tsv, line 3"):
        list(parse_table("birds.tsv", "# english\titalian\nowl\tgufo\nhen\n"))


def test_the_lexicon_is_large() -> None:
    assert len(lexicon().nouns) >= 450
    assert len(lexicon().verbs) >= 180
    assert len(lexicon().adjectives) >= 170


def test_no_english_noun_has_two_translations() -> None:
    forms = [form for noun in lexicon().nouns for form in noun.english if form]
    assert len(forms) == len(set(forms))


def test_an_english_adjective_has_one_translation_for_each_noun() -> None:
    pairs = [(one.english, noun.key) for one in lexicon().adjectives for noun in one.nouns]
    assert len(pairs) == len(set(pairs))


def test_an_english_verb_has_one_translation_for_each_object() -> None:
    pairs = [
        (verb.english.infinitive, verb.english_preposition, thing.key)
        for verb in lexicon().verbs
        for thing in verb.objects
    ]
    assert len(pairs) == len(set(pairs))


def test_an_english_verb_without_object_has_one_translation_for_each_subject() -> None:
    pairs = [
        (verb.english.infinitive, thing.key)
        for verb in lexicon().verbs
        if not verb.objects
        for thing in verb.subjects
    ]
    assert len(pairs) == len(set(pairs))


def test_nouns_have_the_forms_of_their_number() -> None:
    for noun in lexicon().nouns:
        forms = tuple(map(bool, noun.english)), tuple(map(bool, noun.italian))
        expected = {"count": (True, True), "plural": (False, True)}.get(noun.number, (True, False))
        assert forms == (expected, expected), noun.key


def test_no_class_has_the_name_of_a_noun() -> None:
    classes = {row["class"] for row in read_table("classes.tsv")}
    assert not classes & {noun.key for noun in lexicon().nouns}


def test_irregular_nouns_keep_their_plurals() -> None:
    forms = {noun.key: (noun.english[1], noun.italian[1]) for noun in lexicon().nouns}
    assert forms["man"] == ("men", "uomini")
    assert forms["egg"] == ("eggs", "uova")
    assert forms["hand"] == ("hands", "mani")
    assert forms["finger"] == ("fingers", "dita")
    assert forms["city"] == ("cities", "città")
    assert forms["friend"] == ("friends", "amici")
    assert forms["doctor"] == ("doctors", "medici")
    assert forms["child"] == ("children", "bambini")
    assert forms["foot"] == ("feet", "piedi")
    assert forms["uncle"] == ("uncles", "zii")
    assert forms["lake"] == ("lakes", "laghi")
    assert forms["psychologist"] == ("psychologists", "psicologi")
    assert forms["thief"] == ("thieves", "ladri")
    assert forms["problem"] == ("problems", "problemi")
    assert forms["bus"] == ("buses", "autobus")
    assert forms["wife"] == ("", "")


def test_adjectives_in_o_have_regular_feminines() -> None:
    for one in lexicon().adjectives:
        if one.italian.endswith("o") and " " not in one.italian:
            assert one.forms[1] == agree(one.italian, "f", False)
        if re.search("[cg]o$", one.italian):
            assert one.forms[3].endswith("he")


def test_every_adjective_describes_and_every_transitive_verb_has_choice() -> None:
    assert all(len(one.nouns) >= 2 for one in lexicon().adjectives)
    assert all(len(verb.subjects) >= 2 for verb in lexicon().verbs)


def test_every_word_keeps_combinations_to_train_on() -> None:
    for one in lexicon().adjectives:
        kept = [
            split_of_combination(f"adjective-noun: {one.key} + {noun.key}") for noun in one.nouns
        ]
        assert "train" in kept, one.key
    for verb in lexicon().verbs:
        kept = [
            split_of_combination(f"verb-object: {verb.key} + {noun.key}") for noun in verb.objects
        ]
        assert not kept or "train" in kept, verb.key

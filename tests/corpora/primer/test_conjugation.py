"""Golden conjugations, worked by hand."""

import pytest

from dragoman.corpora.primer.conjugation import conjugate, reflexive_base

PRESENT = {
    "parlare": "parlo parli parla parliamo parlate parlano",
    "cercare": "cerco cerchi cerca cerchiamo cercate cercano",
    "pagare": "pago paghi paga paghiamo pagate pagano",
    "mangiare": "mangio mangi mangia mangiamo mangiate mangiano",
    "studiare": "studio studi studia studiamo studiate studiano",
    "consigliare": "consiglio consigli consiglia consigliamo consigliate consigliano",
    "abbracciare": "abbraccio abbracci abbraccia abbracciamo abbracciate abbracciano",
    "leggere": "leggo leggi legge leggiamo leggete leggono",
    "vincere": "vinco vinci vince vinciamo vincete vincono",
    "conoscere": "conosco conosci conosce conosciamo conoscete conoscono",
    "dormire": "dormo dormi dorme dormiamo dormite dormono",
    "finire": "finisco finisci finisce finiamo finite finiscono",
    "costruire": "costruisco costruisci costruisce costruiamo costruite costruiscono",
    "cucire": "cucio cuci cuce cuciamo cucite cuciono",
    "essere": "sono sei è siamo siete sono",
    "avere": "ho hai ha abbiamo avete hanno",
    "andare": "vado vai va andiamo andate vanno",
    "dare": "do dai dà diamo date danno",
    "fare": "faccio fai fa facciamo fate fanno",
    "bere": "bevo bevi beve beviamo bevete bevono",
    "venire": "vengo vieni viene veniamo venite vengono",
    "uscire": "esco esci esce usciamo uscite escono",
    "scegliere": "scelgo scegli sceglie scegliamo scegliete scelgono",
    "spegnere": "spengo spegni spegne spegniamo spegnete spengono",
    "tradurre": "traduco traduci traduce traduciamo traducete traducono",
    "morire": "muoio muori muore moriamo morite muoiono",
    "volere": "voglio vuoi vuole vogliamo volete vogliono",
    "potere": "posso puoi può possiamo potete possono",
    "dovere": "devo devi deve dobbiamo dovete devono",
}

FUTURE = {  # the third person singular
    "parlare": "parlerà",
    "cercare": "cercherà",
    "pagare": "pagherà",
    "mangiare": "mangerà",
    "cominciare": "comincerà",
    "lasciare": "lascerà",
    "parcheggiare": "parcheggerà",
    "studiare": "studierà",
    "consigliare": "consiglierà",
    "leggere": "leggerà",
    "dormire": "dormirà",
    "essere": "sarà",
    "avere": "avrà",
    "andare": "andrà",
    "vedere": "vedrà",
    "bere": "berrà",
    "venire": "verrà",
    "volere": "vorrà",
    "fare": "farà",
    "dare": "darà",
    "cadere": "cadrà",
    "tradurre": "tradurrà",
}

PARTICIPLES = {
    "parlare": "parlato",
    "mangiare": "mangiato",
    "vendere": "venduto",
    "dormire": "dormito",
    "leggere": "letto",
    "scrivere": "scritto",
    "aprire": "aperto",
    "chiudere": "chiuso",
    "prendere": "preso",
    "vedere": "visto",
    "perdere": "perso",
    "rompere": "rotto",
    "essere": "stato",
    "fare": "fatto",
    "venire": "venuto",
    "bere": "bevuto",
    "scegliere": "scelto",
    "raccogliere": "raccolto",
    "spegnere": "spento",
    "accendere": "acceso",
    "appendere": "appeso",
    "correre": "corso",
    "ridere": "riso",
    "piangere": "pianto",
    "vincere": "vinto",
    "dipingere": "dipinto",
    "tradurre": "tradotto",
    "morire": "morto",
    "offrire": "offerto",
    "scoprire": "scoperto",
    "rispondere": "risposto",
    "nascondere": "nascosto",
    "uscire": "uscito",
    "conoscere": "conosciuto",
    "piacere": "piaciuto",
    "proteggere": "protetto",
    "mordere": "morso",
    "correggere": "corretto",
}

GERUNDS = {
    "parlare": "parlando",
    "mangiare": "mangiando",
    "leggere": "leggendo",
    "finire": "finendo",
    "fare": "facendo",
    "bere": "bevendo",
    "tradurre": "traducendo",
    "riempire": "riempiendo",
    "dare": "dando",
}

IMPERATIVES = {
    "parlare": "parla",
    "mangiare": "mangia",
    "prendere": "prendi",
    "aprire": "apri",
    "finire": "finisci",
    "scegliere": "scegli",
    "spegnere": "spegni",
    "pulire": "pulisci",
}


@pytest.mark.parametrize("infinitive", PRESENT)
def test_presente(infinitive: str) -> None:
    assert " ".join(conjugate(infinitive).present) == PRESENT[infinitive]


@pytest.mark.parametrize("infinitive", FUTURE)
def test_futuro(infinitive: str) -> None:
    assert conjugate(infinitive).future[2] == FUTURE[infinitive]


def test_every_person_of_the_futuro() -> None:
    persons = "mangerò mangerai mangerà mangeremo mangerete mangeranno"
    assert " ".join(conjugate("mangiare").future) == persons


@pytest.mark.parametrize("infinitive", PARTICIPLES)
def test_past_participle(infinitive: str) -> None:
    assert conjugate(infinitive).participle == PARTICIPLES[infinitive]


@pytest.mark.parametrize("infinitive", GERUNDS)
def test_gerund(infinitive: str) -> None:
    assert conjugate(infinitive).gerund == GERUNDS[infinitive]


@pytest.mark.parametrize("infinitive", IMPERATIVES)
def test_imperative(infinitive: str) -> None:
    assert conjugate(infinitive).imperative == IMPERATIVES[infinitive]


def test_imperfetto() -> None:
    assert conjugate("amare").imperfect[0] == "amavo"
    assert conjugate("conoscere").imperfect[2] == "conosceva"
    assert conjugate("capire").imperfect[5] == "capivano"
    assert " ".join(conjugate("essere").imperfect) == "ero eri era eravamo eravate erano"


def test_a_reflexive_verb_is_conjugated_by_its_base() -> None:
    bases = [reflexive_base(verb) for verb in ("alzarsi", "sedersi", "vestirsi")]
    assert bases == ["alzare", "sedere", "vestire"]

"""Files that are sent: nothing of their names is believed, and only text is read."""

import asyncio
import io
import random
import tarfile
import time
import weakref
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import requests
from tests.documents.office_files import docx, odt, packed, paragraph, run, translated, unpacked
from tests.serving.live import Copier, Turnstile, serving

from dragoman.model_directory import ModelError
from dragoman.serving import documents, guard
from dragoman.serving.metrics import Metrics
from dragoman.serving.models import Models, ServedModel
from dragoman.serving.service import Order, TranslationService
from dragoman.serving.settings import Settings


@pytest.fixture(scope="module")
def url(copier: tuple[Copier, ServedModel]) -> Iterator[str]:
    with serving([copier[1]]) as url:
        yield url


def upload(url: str, name: str, content: bytes, **more: Any) -> requests.Response:
    """Send a file whose name is written byte for byte."""
    body = (
        b'--x\r\nContent-Disposition: form-data; name="source"\r\n\r\nen\r\n'
        b'--x\r\nContent-Disposition: form-data; name="target"\r\n\r\nit\r\n'
        b'--x\r\nContent-Disposition: form-data; name="file"; filename="%s"\r\n\r\n%s\r\n--x--\r\n'
        % (name.encode(), content)
    )
    return requests.post(
        f"{url}/translate_file",
        data=body,
        headers={"Content-Type": "multipart/form-data; boundary=x"},
        timeout=30,
        **more,
    )


NAMES = {
    "../../etc/passwd.txt": "passwd.it.txt",
    "..%2f..%2fx.txt": "..%2f..%2fx.it.txt",
    "C:\\\\Windows\\\\x.txt": "x.it.txt",
    "/var/up-evil/x.html": "x.it.html",
    "x" * 300 + ".txt": "x" * 100 + ".it.txt",
    "con.txt": "con.it.txt",
    "a\u202etxt.exe.txt": "a\u202etxt.exe.it.txt",
    "<img src=x onerror=alert(1)>.html": "<img src=x onerror=alert(1)>.it.html",
    "gatto è qui.TXT": "gatto è qui.it.txt",
    "a;b.txt": "a;b.it.txt",
}


@pytest.mark.parametrize(("name", "given"), NAMES.items())
def test_of_a_name_only_the_last_part_comes_back_and_as_a_name(
    url: str, name: str, given: str
) -> None:
    answer = upload(url, name, b"a cat")
    address = answer.json()["translatedFileUrl"]
    file = requests.get(address, timeout=30)

    assert address.startswith(f"{url}/download_file/")
    assert set(address.rsplit("/", 1)[1]) <= set("0123456789ABCDEF")
    assert file.text == "a cat"
    quoted = requests.utils.quote(given, safe="/")  # type: ignore[attr-defined]
    assert file.headers["Content-Disposition"] == f"attachment; filename*=UTF-8''{quoted}"
    assert file.headers["X-Content-Type-Options"] == "nosniff"
    assert "default-src 'none'" in file.headers["Content-Security-Policy"]


def test_the_name_of_a_translation_has_its_language_as_the_model_writes_it(url: str) -> None:
    answer = requests.post(
        f"{url}/translate_file",
        data={"source": "en", "target": "IT-/../evil"},  # a region that is not here
        files={"file": ("x.txt", b"a cat")},
        timeout=30,
    )
    file = requests.get(answer.json()["translatedFileUrl"], timeout=30)

    assert file.headers["Content-Disposition"] == "attachment; filename*=UTF-8''x.it.txt"


@pytest.mark.parametrize("name", ["", ".txt", "x", "x.txt.exe", "x.doc", "x.txt."])
def test_other_names_are_refused(url: str, name: str) -> None:
    answer = upload(url, name, b"a cat")

    assert answer.status_code == 400
    assert len(answer.json()["error"]) < 250


@pytest.mark.parametrize("path", ["/translate_file", "/v2/document"])
def test_what_is_not_sent_as_a_file_is_refused_in_a_sentence(url: str, path: str) -> None:
    fields = {"file": "a cat", "source": "en", "target": "it", "target_lang": "IT"}

    answer = requests.post(url + path, data=fields, timeout=30)

    assert answer.status_code == 400
    assert list(answer.json().values()) == ["file should be a file with a name"]


def archive(kind: str) -> bytes:
    """Pack a text that unpacks to a hundred times its size, and wants to be elsewhere."""
    buffer = io.BytesIO()
    content = b"a cat. " * 10_000
    if kind == "zip":
        with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as packed:
            packed.writestr("../../evil.txt", content)
    else:
        with tarfile.open(fileobj=buffer, mode="w") as packed_tar:
            entry = tarfile.TarInfo("../../evil.txt")
            entry.size = len(content)
            packed_tar.addfile(entry, io.BytesIO(content))
    return buffer.getvalue()


@pytest.mark.parametrize(
    "content",
    [
        archive("zip"),
        archive("tar"),
        b"\x1f\x8b\x08\0\0\0\0\0",
        b"%PDF-1.7\n%\xe2\xe3\xcf\xd3",
        b"MZ\x90\0\x03",
        "a cat".encode("utf-16"),
        b"caff\xe8",
        b"a\0b",
    ],
    ids=["zip", "tar", "gzip", "PDF", "program", "UTF-16", "Latin-1", "NUL"],
)
@pytest.mark.parametrize("name", ["a.txt", "a.html"])
def test_what_is_not_text_is_refused_by_its_content(url: str, name: str, content: bytes) -> None:
    answer = upload(url, name, content)

    assert answer.status_code == 400
    assert answer.json()["error"].startswith("the file is not ")
    assert ("UTF-16" in answer.text) == (content == "a cat".encode("utf-16"))


@pytest.mark.parametrize("path", ["/translate_file", "/v2/document"])
def test_an_office_document_comes_back_with_its_text_and_all_else(url: str, path: str) -> None:
    sent = docx(paragraph(run("a cat"), run(" sleeps", "<w:b/>")))
    form = dict.fromkeys(("source", "source_lang"), "en") | dict.fromkeys(
        ("target", "target_lang"), "it"
    )
    file = {"file": ("report.docx", sent)}
    answer = requests.post(f"{url}{path}", data=form, files=file, timeout=30).json()
    if path == "/translate_file":
        got = requests.get(answer["translatedFileUrl"], timeout=30)
        assert got.headers["Content-Disposition"].endswith("report.it.docx")
    else:
        place = f"{url}/v2/document/{answer['document_id']}"
        key = {"document_key": answer["document_key"]}
        status = requests.post(place, json=key, timeout=30).json()
        assert (status["status"], status["billed_characters"]) == ("done", len("a cat sleeps"))
        got = requests.post(f"{place}/result", json=key, timeout=30)

    assert got.headers["Content-Type"].startswith("application/vnd.openxml")
    assert unpacked(got.content) == unpacked(translated(sent, str))


def test_a_limit_counts_what_people_read_of_an_office_document(
    copier: tuple[Copier, ServedModel],
) -> None:
    with serving([copier[1]], Settings(max_characters=100)) as url:
        answers = [
            upload(url, "a.docx", docx(paragraph(*[run("a cat ")] * count)))
            for count in (16, 17, 1_000)
        ]

    assert [answer.status_code for answer in answers] == [200, 413, 400]
    assert answers[1].json()["error"].startswith("102 characters are too many")
    assert answers[2].json()["error"].startswith("it unpacks to more than")


def test_a_picture_may_be_larger_than_any_text_and_not_unpack_for_ever(
    copier: tuple[Copier, ServedModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "_MOST_UNPACKED", 2**21)
    settings = Settings(max_characters=100, max_file_bytes=2**20)
    text = paragraph(run("a cat"))
    noise = random.Random(0).randbytes(2**20)
    with serving([copier[1]], settings) as url:
        fits = upload(url, "a.docx", docx(text, **{"word/media/b.png": noise[: 2**19]}))
        too_long = upload(url, "a.docx", docx(text, **{"word/media/b.png": noise * 2}))
        bomb = upload(url, "a.docx", docx(text, **{"word/media/b.png": bytes(2**22)}))

    assert [answer.status_code for answer in (fits, too_long, bomb)] == [200, 413, 400]
    assert bomb.json()["error"] == "it unpacks to more than 2 MiB"


def test_what_a_document_says_in_attributes_is_counted_before_it_waits(
    copier: tuple[Copier, ServedModel],
) -> None:
    page = "<html><body>a cat" + '<img alt="a cat sees a cat"/>' * 100 + "</body></html>"
    book = packed({"mimetype": b"application/epub+zip", "a.xhtml": page.encode()})
    spaces = odt("<text:p>a cat" + '<text:s text:c="99"/>' * 20 + "</text:p>")
    with serving([copier[1]], Settings(max_characters=500)) as url:
        answers = [upload(url, name, sent) for name, sent in (("a.epub", book), ("a.odt", spaces))]

    assert [answer.status_code for answer in answers] == [413, 413]
    assert answers[1].json()["error"].startswith("1985 characters are too many")


def test_a_file_is_not_longer_than_the_server_is_told(copier: tuple[Copier, ServedModel]) -> None:
    with serving([copier[1]], Settings(max_file_bytes=100)) as url:
        fits, too_long = (upload(url, "a.txt", b"a" * number) for number in (100, 101))

    assert [answer.status_code for answer in (fits, too_long)] == [200, 413]
    assert too_long.json()["error"] == "the file is longer than 100 bytes"


@pytest.mark.parametrize(
    "content", [b"a cat", b"PK\x03\x04", docx("<w:p>")[:-30], docx("<w:p>")], ids=range(4)
)
def test_a_damaged_office_document_is_refused(url: str, content: bytes) -> None:
    answer = upload(url, "a.docx", content)

    assert answer.status_code == 400
    assert answer.json()["error"].startswith("it")


def test_files_that_wait_have_a_size_in_all(
    copying: tuple[Copier, ServedModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "_MOST_BYTES", 1_000)
    with serving([copying[1]]) as url:
        answers = [upload(url, "a.txt", b"7" * size) for size in (400, 400, 400)]
        requests.get(answers[0].json()["translatedFileUrl"], timeout=30)
        answers.append(upload(url, "a.txt", b"7" * 600))
        requests.get(answers[3].json()["translatedFileUrl"], timeout=30)
        answers.append(upload(url, "a.txt", b"7" * 600))

    assert [answer.status_code for answer in answers] == [200, 200, 429, 200, 200]


def test_requests_have_a_size_in_all(
    copying: tuple[Copier, ServedModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guard, "_MOST_BYTES_AT_ONCE", 1_000)
    engine, model = copying
    engine.gate.clear()
    with serving([model]) as url, ThreadPoolExecutor(1) as elsewhere:
        first = elsewhere.submit(upload, url, "a.txt", b"a cat. " * 80)
        while not engine.asked:
            time.sleep(0.01)
        second = upload(url, "a.txt", b"a cat. " * 80)
        engine.gate.set()
        assert first.result(timeout=30).status_code == 200
        for _ in range(100):  # the place of a request is free soon after its answer
            third = upload(url, "a.txt", b"a cat. " * 80)
            if third.status_code == 200:
                break
            time.sleep(0.05)

    assert (second.status_code, third.status_code) == (503, 200)
    assert second.headers["Retry-After"] == "5"


def test_a_long_file_needs_no_room_on_a_disk(
    copier: tuple[Copier, ServedModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", "/nowhere")
    long = b"<!--" + b"-" * 2**21 + b"--><p>a cat</p>"

    with serving([copier[1]], Settings(max_characters=2**22)) as url:
        answer = upload(url, "a.html", long)
        file = requests.get(answer.json()["translatedFileUrl"], timeout=30)

    assert file.content == long


def test_entities_of_a_document_are_left_alone(url: str) -> None:
    bomb = (
        '<!DOCTYPE x [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">'
        '<!ENTITY c SYSTEM "file:///etc/passwd">]><p>a cat</p><p>&b;&b;&c;</p>'
    )
    answer = upload(url, "a.html", bomb.encode())
    file = requests.get(answer.json()["translatedFileUrl"], timeout=30)

    assert len(file.text) < 2 * len(bomb)
    assert "root:" not in file.text


def test_a_hundred_files_are_kept_and_each_place_becomes_free(
    copying: tuple[Copier, ServedModel],
) -> None:
    with serving([copying[1]]) as url:

        def send() -> requests.Response:
            return requests.post(
                f"{url}/v2/document",
                data={"target_lang": "IT", "source_lang": "EN"},
                files={"file": ("a.txt", b"7")},
                timeout=30,
            )

        sent = [send().json() for _ in range(100)]
        refused = send()
        first = f"{url}/v2/document/{sent[0]['document_id']}"
        key = {"document_key": sent[0]["document_key"]}
        for wrong in ("x", "\u00e9"):
            other = requests.post(first, json={"document_key": wrong}, timeout=30)
            assert other.status_code == 404
        assert requests.post(first, json=key, timeout=30).json()["status"] == "done"
        assert requests.post(f"{first}/result", json=key, timeout=30).text == "7"
        again = requests.post(f"{first}/result", json=key, timeout=30)
        taken = send()

    assert refused.status_code == 429
    assert 200 < int(refused.headers["Retry-After"]) <= 300  # when there will be room
    assert again.status_code == 404
    assert taken.status_code == 200


def test_what_was_fetched_gives_way_to_others(copying: tuple[Copier, ServedModel]) -> None:
    with serving([copying[1]]) as url:
        for i in range(110):
            answer = upload(url, "a.txt", f"cat {i}".encode())
            assert answer.status_code == 200
            last = answer.json()["translatedFileUrl"]
            if i >= 50:  # those before are never fetched
                assert requests.get(last, timeout=30).text == f"cat {i}"
        again = requests.get(last, timeout=30)

    assert again.text == "cat 109"


def test_a_document_that_failed_says_so_to_whoever_fetches_it_and_why_to_the_log(
    copying: tuple[Copier, ServedModel],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(*arguments: Any) -> Any:
        raise ModelError("model.bin: cut off")

    engine, model = copying
    monkeypatch.setattr(engine, "search", fail)
    with serving([model]) as url:
        sent = requests.post(
            f"{url}/v2/document",
            data={"source_lang": "EN", "target_lang": "IT"},
            files={"file": ("a.txt", b"The cat.")},
            timeout=30,
        ).json()
        place, key = (
            f"{url}/v2/document/{sent['document_id']}",
            {"document_key": sent["document_key"]},
        )
        status = requests.post(place, json=key, timeout=30).json()
        fetched = requests.post(f"{place}/result", json=key, timeout=30)

    told = "the model is damaged; the log of the server says where"
    assert (status["status"], status["error_message"]) == ("error", told)
    assert fetched.status_code == 400
    assert fetched.json() == {"message": told}
    assert "model.bin: cut off" in caplog.text


def test_what_nobody_fetches_gives_way_after_what_was_fetched(
    copying: tuple[Copier, ServedModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "_SECONDS_TO_FETCH", 0.0)

    with serving([copying[1]]) as url:
        places = [upload(url, "a.txt", b"7").json()["translatedFileUrl"] for _ in range(100)]
        requests.get(places[50], timeout=30)
        places += [upload(url, "a.txt", b"7").json()["translatedFileUrl"] for _ in range(2)]
        found = [requests.get(place, timeout=30).status_code for place in places]

    assert [i for i, status in enumerate(found) if status != 200] == [0, 50]


def test_what_failed_gives_way_to_others_and_what_is_being_translated_does_not(
    held: tuple[Turnstile, ServedModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "_MOST_DOCUMENTS", 1)
    monkeypatch.setattr(documents, "_SECONDS_TO_FETCH", 0.0)
    engine, model = held
    with serving([model]) as url:

        def send() -> requests.Response:
            fields = {"source_lang": "EN", "target_lang": "IT"}
            files = {"file": ("a.txt", b"The cat.")}
            return requests.post(f"{url}/v2/document", data=fields, files=files, timeout=30)

        taken, refused = send(), send()
        place = f"{url}/v2/document/{taken.json()['document_id']}"
        key = {"document_key": taken.json()["document_key"]}
        early = requests.post(f"{place}/result", json=key, timeout=30)
        with monkeypatch.context() as broken:
            broken.setattr(documents, "_SECONDS_TO_FETCH", 60.0)
            broken.setattr(Copier, "search", lambda *_: [])
            engine.passes.release()
            requests.post(place, json=key, timeout=30)
            again = send()
        engine.passes.release()

    assert [answer.status_code for answer in (taken, refused, again)] == [200, 429, 200]
    assert (early.status_code, early.headers["Retry-After"]) == (503, "1")


def test_the_mark_of_the_byte_order_stays(url: str) -> None:
    sent = "\ufeffa cat".encode()

    address = upload(url, "a.txt", sent).json()["translatedFileUrl"]

    assert requests.get(address, timeout=30).content == sent


def test_a_file_that_nobody_fetches_does_not_stay_in_memory(
    copying: tuple[Copier, ServedModel], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(documents, "_SECONDS_KEPT", 0.1)

    async def keep() -> bool:
        service = TranslationService(Models([copying[1]]), Settings(), Metrics())
        order = Order(texts=[], source="en", target="it")
        store = documents.Documents(service)
        kept = weakref.ref(await store.start("a.txt", b"a cat", order, needs_key=False))
        was_kept = kept() is not None
        while kept() is not None:
            await asyncio.sleep(0.05)
        await service.close()
        return was_kept

    assert asyncio.run(asyncio.wait_for(keep(), timeout=30))


def test_a_document_that_is_too_long_is_refused_at_once(
    copying: tuple[Copier, ServedModel],
) -> None:
    with serving([copying[1]], Settings(max_characters=4)) as url:
        answer = requests.post(
            f"{url}/v2/document",
            data={"source_lang": "EN", "target_lang": "IT"},
            files={"file": ("a.txt", b"a cat")},
            timeout=30,
        )

    assert answer.status_code == 413


def test_what_needs_a_key_is_not_opened_without(url: str) -> None:
    sent = requests.post(
        f"{url}/v2/document",
        data={"target_lang": "IT", "source_lang": "EN"},
        files={"file": ("a.txt", b"a secret")},
        timeout=30,
    ).json()

    stolen = requests.get(f"{url}/download_file/{sent['document_id']}", timeout=30)
    name = upload(url, "a.txt", b"7").json()["translatedFileUrl"].rsplit("/", 1)[1]
    other = requests.post(f"{url}/v2/document/{name}", json={"document_key": "x"}, timeout=30)

    assert (stolen.status_code, other.status_code) == (404, 404)


@pytest.mark.parametrize(
    ("path", "names"),
    [
        ("/translate_file", ["source", "target", "target"]),
        ("/v2/document", ["source_lang", "target_lang", "target_lang"]),
    ],
)
def test_a_field_that_stands_twice_is_refused(url: str, path: str, names: list[str]) -> None:
    fields = list(zip(names, ["en", "it", "fr"], strict=True))

    answer = requests.post(
        f"{url}{path}", data=fields, files={"file": ("a.txt", b"a cat")}, timeout=30
    )

    assert answer.status_code == 400
    assert "should be one text" in answer.text


@pytest.mark.parametrize("path", ["/translate", "/translate_file", "/v2/document"])
def test_a_form_that_cannot_be_read_is_refused_in_a_sentence(url: str, path: str) -> None:
    answer = requests.post(
        url + path, data=b"x", headers={"Content-Type": "multipart/form-data"}, timeout=30
    )

    assert answer.status_code == 400
    assert "the form cannot be read: " in answer.text


@pytest.mark.parametrize("charset", ["undefined", "no-such"])
def test_a_form_in_an_unknown_charset_is_refused(url: str, charset: str) -> None:
    answer = requests.post(
        f"{url}/translate",
        data=b'--x\r\nContent-Disposition: form-data; name="q"\r\n\r\na cat\r\n--x--\r\n',
        headers={"Content-Type": f"multipart/form-data; boundary=x; charset={charset}"},
        timeout=30,
    )

    assert answer.status_code == 400


def test_half_a_character_in_a_name_is_replaced(url: str) -> None:
    answer = requests.post(
        f"{url}/translate_file",
        data=b'--x\r\nContent-Disposition: form-data; name="source"\r\n\r\nen\r\n'
        b'--x\r\nContent-Disposition: form-data; name="target"\r\n\r\nit\r\n'
        b'--x\r\nContent-Disposition: form-data; name="file"; filename="+2AA-.txt"\r\n\r\n7\r\n'
        b"--x--\r\n",
        headers={"Content-Type": "multipart/form-data; boundary=x; charset=utf-7"},
        timeout=30,
    )
    fetched = requests.get(answer.json()["translatedFileUrl"], timeout=30)

    assert (fetched.status_code, fetched.text) == (200, "7")
    assert fetched.headers["Content-Disposition"].endswith("''%EF%BF%BD.it.txt")


def test_all_kinds_of_line_breaks_stay(url: str) -> None:
    text = "one\rtwo\r\nthree\u2028four\x85\x85five\x0b six"
    fields = {"q": text, "source": "en", "target": "it"}

    answer = requests.post(f"{url}/translate", json=fields, timeout=30)

    assert answer.json()["translatedText"] == text

"""The basic files journey with the official Python SDK, unmodified: only the base URL and the key are ours.

Not part of CI, which has no Python packages. How to run it is in docs/proofs/compat.md.
"""

import hashlib
import io
import sys

import openai

from checks import expect, refused, report

PART_BYTES = 1_000_000
PARTS = 3
FILES = 120


def files(client):
    lines = b'{"item":{"question":"1+1"}}\n'
    made = client.files.create(file=("data \"1\".jsonl", lines), purpose="evals")
    expect("a file comes back as its record", made.id.startswith("file-") and made.status == "processed")
    expect("its name is kept, quotes and all", made.filename == 'data "1".jsonl')
    expect("its bytes come back identical", client.files.content(made.id).read() == lines)
    expect("it can be retrieved", client.files.retrieve(made.id) == made)
    expect("waiting for it ends at once", client.files.wait_for_processing(made.id).status == "processed")
    hour = client.files.create(
        file=io.BytesIO(lines), purpose="user_data", expires_after={"anchor": "created_at", "seconds": 3600}
    )
    expect("expires_after sets its end", hour.expires_at == hour.created_at + 3600)
    for id in (made.id, hour.id):
        client.files.delete(id)
    expect("a deleted file is gone", refused(lambda: client.files.retrieve(made.id), openai.NotFoundError, code="not_found"))


def pages(client):
    made = {client.files.create(file=(f"{n}.txt", b"x"), purpose="user_data").id for n in range(FILES)}
    met = [file.id for file in client.files.list(limit=50)]
    expect("auto-pagination meets every file once", len(met) == len(set(met)) and made <= set(met))
    for file in client.files.list(limit=50):
        if file.id in made:
            client.files.delete(file.id)
    expect("deleting while paging reaches them all", made.isdisjoint(file.id for file in client.files.list()))


def uploads(client):
    parts = [bytes([n]) * PART_BYTES for n in range(PARTS)]
    upload = client.uploads.create(
        bytes=PART_BYTES * PARTS, filename="big.bin", mime_type="application/octet-stream", purpose="user_data"
    )
    ids = [client.uploads.parts.create(upload.id, data=part).id for part in parts]
    md5 = hashlib.md5(b"".join(parts)).hexdigest()
    wrong = lambda: client.uploads.complete(upload.id, part_ids=ids[::-1], md5=md5)
    expect("parts in another order do not match the checksum", refused(wrong, openai.BadRequestError, code="checksum_mismatch"))
    done = client.uploads.complete(upload.id, part_ids=ids, md5=md5)
    expect("an upload becomes a file", done.status == "completed" and done.file.bytes == PART_BYTES * PARTS)
    expect("with the bytes of its parts", client.files.content(done.file.id).read() == b"".join(parts))


def errors(client):
    wrong_key = client.with_options(api_key="sk-proj-nobody-has-this-key")
    expect("a wrong key is refused", refused(lambda: wrong_key.files.list(), openai.AuthenticationError, code="invalid_api_key"))
    bad = lambda: client.files.create(file=b"x", purpose="nonsense")
    expect("a bad parameter is named", refused(bad, openai.BadRequestError, code="invalid_value", param="purpose"))
    key = {"Idempotency-Key": "python-journey"}
    first = client.files.create(file=("a.txt", b"one"), purpose="evals", extra_headers=key)
    again = client.files.create(file=("a.txt", b"one"), purpose="evals", extra_headers=key)
    expect("the same request with the same key is done once", first.id == again.id)
    reused = lambda: client.files.create(file=("a.txt", b"two"), purpose="evals", extra_headers=key)
    expect("another one is a conflict", refused(reused, openai.ConflictError, code="idempotency_key_reused"))


def main():
    client = openai.OpenAI()
    for journey in (files, pages, uploads, errors):
        journey(client)
    return report()


if __name__ == "__main__":
    sys.exit(main())

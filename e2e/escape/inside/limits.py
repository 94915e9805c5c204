"""What a listed host can be used for. Not bypasses: whoever lists a host trusts it. Run to keep the document true."""

import base64
import urllib.request

from common import OPEN, SECRET, UNLISTED, WAIT_S, WORLD, attempt, connect, get, said_over_tls
from names import dns_query_at, query


def fetched(address, **headers):
    with urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=WAIT_S) as reply:
        return reply.read().decode("latin-1")


def limits():
    attempt("fronting", said_over_tls, OPEN["name"], get(UNLISTED["name"], "/fronted"))
    attempt("relay", said_over_tls, OPEN["name"], connect(f"{UNLISTED['name']}:443"))
    question = base64.urlsafe_b64encode(query(UNLISTED["name"], 1)).decode().rstrip("=")
    attempt("doh", lambda: ".".join(str(byte) for byte in dns_query_at(OPEN["name"], question)))
    attempt("wildcard", fetched, f"https://told-to-the-owner.{WORLD['wildcard']}/")
    key = {"X-Key": "$API_KEY"}
    attempt("echo", lambda: fetched(f"https://{SECRET['name']}/echo", **key))
    attempt("encoded", lambda: fetched(f"https://{SECRET['name']}/echo?as=base64", **key))


ATTEMPTS = {101: limits}

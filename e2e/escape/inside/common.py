"""What every attempt uses: it says what it tried and what came of it, one JSON line each."""

import errno
import json
import os
import re
import socket
import ssl
import struct

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "world.json"), encoding="utf-8") as file:
    WORLD = json.load(file)
HOSTS = WORLD["hosts"]
SECRET, OPEN, OTHER, NEIGHBOUR, UNLISTED = (
    HOSTS[key] for key in ("secret", "open", "other", "neighbour", "unlisted")
)
MACHINE, RESOLVER, REBIND = WORLD["machine"], WORLD["resolver"], WORLD["rebind"]

INSIDE = "127.0.0.1"
WAIT_S = float(os.environ.get("ESCAPE_WAIT_S", "10"))
BYTES_MAX = 65536
# What a server says to whoever should never have got to it.
REACHED = "REACHED"
ALERTS = {49: "access denied", 50: "decode error", 80: "internal error", 112: "unrecognized name"}


def say(**what):
    print(json.dumps(what), flush=True)


def attempt(label, call, *given):
    """Runs one try. `call` gives what came back; an error is an answer too."""
    try:
        got = call(*given)
    except ssl.SSLError as error:
        got = f"TLS {re.sub('^(tls|ssl)v[0-9]*_(alert_)?', '', (error.reason or 'closed').lower()).replace('_', ' ')}"
    except socket.gaierror:
        got = "no such name"
    except TimeoutError:
        got = "no answer"
    except OSError as error:
        got = errno.errorcode.get(error.errno, "closed")
    got = re.sub(r"[^ -~]", "", got)
    say(attempt=label, got=got[:200], through=REACHED in got)
    return got


def family_of(address):
    return socket.AF_INET6 if ":" in address else socket.AF_INET


def direct(address, port, kind=socket.SOCK_STREAM, data=b"escape\r\n"):
    """Straight to an address. A connection, or a datagram that was taken for sending, is already too much."""
    with socket.socket(family_of(address), kind) as opened:
        opened.settimeout(WAIT_S)
        opened.connect((address, port))
        opened.send(data)
        return f"{REACHED} {address}"


def read_all(opened):
    text = b""
    while len(text) < BYTES_MAX:
        try:
            chunk = opened.recv(BYTES_MAX)
        except TimeoutError:
            break
        except OSError:
            break
        if not chunk:
            break
        text += chunk
    return text


def reply_of(text):
    """`403 name_is_address`, `200 welcome …`, or the TLS alert that was sent instead."""
    if text[:1] == b"\x15" and len(text) >= 7:
        return f"TLS {ALERTS.get(text[6], text[6])}"
    if not text:
        return "closed"
    plain = text.decode("latin-1")
    head, _, body = plain.partition("\r\n\r\n")
    status = head.split(" ")[1] if head.startswith("HTTP/") else "?"
    body = re.sub(r"^[0-9a-f]+\r\n|\r\n0\r\n\r\n$", "", body) if "chunked" in head.lower() else body
    reason = re.search(r"(?im)^x-egress-reason: *(\S+)", head)
    if reason:
        return f"{status} {reason.group(1)}"
    seen = REACHED if REACHED in plain else ""
    return f"{status} {seen} {body.strip()[:60]}".replace("  ", " ").strip()


def enter(port):
    opened = socket.create_connection((INSIDE, port), WAIT_S)
    opened.settimeout(WAIT_S)
    return opened


def said(port, text, wait=WAIT_S):
    """Sends text, or bytes, to a port of the forwarder and gives what comes back."""
    with enter(port) as opened:
        opened.settimeout(wait)
        opened.sendall(text.encode("latin-1") if isinstance(text, str) else text)
        return reply_of(read_all(opened))


def get(host, path="/", *headers, method="GET"):
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}", *headers, "Connection: close", "", ""]
    return "\r\n".join(lines)


def connect(authority):
    return f"CONNECT {authority} HTTP/1.1\r\nHost: {authority}\r\n\r\n"


def tunnel(authority):
    """A tunnel through port 3128, or the refusal as an exception."""
    opened = enter(3128)
    opened.sendall(connect(authority).encode())
    head = opened.recv(4096)
    if not head.startswith(b"HTTP/1.1 200"):
        opened.close()
        raise Refused(reply_of(head))
    return opened


class Refused(Exception):
    pass


def through_tunnel(authority, text):
    try:
        with tunnel(authority) as opened:
            opened.sendall(text.encode("latin-1") if isinstance(text, str) else text)
            return reply_of(read_all(opened))
    except Refused as refused:
        return str(refused)


def context(trusting=True):
    made = ssl.create_default_context()
    if not trusting:
        made.check_hostname = False
        made.verify_mode = ssl.CERT_NONE
    return made


def tls(opened, name, trusting=True):
    return context(trusting).wrap_socket(opened, server_hostname=name)


def said_over_tls(name, text, opened=None, trusting=True):
    """A TLS session for `name`, and in it whatever text."""
    with tls(opened or enter(443), name, trusting) as secured:
        secured.sendall(text.encode("latin-1"))
        return reply_of(read_all(secured))


def hello_bytes(name):
    """The first bytes that this TLS library would send."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    client = context(False).wrap_bio(incoming, outgoing, server_hostname=name)
    try:
        client.do_handshake()
    except ssl.SSLWantReadError:
        pass
    return outgoing.read()


def with_extension(hello, kind, data):
    """The same hello with one more extension and every length around it put right."""
    message = hello[5:]
    at = 4 + 2 + 32
    at += 1 + message[at]
    at += 2 + struct.unpack_from("!H", message, at)[0]
    at += 1 + message[at]
    extensions = message[at + 2 :] + struct.pack("!HH", kind, len(data)) + data
    body = message[4:at] + struct.pack("!H", len(extensions)) + extensions
    whole = b"\x01" + len(body).to_bytes(3, "big") + body
    return b"\x16\x03\x01" + struct.pack("!H", len(whole)) + whole


def control():
    """The way that is allowed, taken by the same program after all its tries."""
    try:
        with tls(socket.create_connection((OPEN["name"], 443), WAIT_S), OPEN["name"]) as secured:
            secured.settimeout(WAIT_S)
            secured.sendall(get(OPEN["name"], "/control").encode())
            got = reply_of(read_all(secured))
    except OSError as error:
        got = str(error)
    say(control=got.startswith("200 welcome"), got=got[:200])

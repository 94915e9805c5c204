"""6 to 8, 14 to 16, 21: addresses, however they are spelled, and names that stand for the wrong ones."""

import os
import socket
import subprocess
import time

from common import (
    MACHINE, OPEN, REBIND, SECRET, UNLISTED, WORLD,
    attempt, connect, direct, get, said, said_over_tls, say, through_tunnel,
)  # fmt: skip

PORTS = (80, 443, 8080)
METADATA = ("169.254.169.254", "fd00:ec2::254", "100.100.100.200", "168.63.129.16", "169.254.170.2")
METADATA_SPELLED = ("2852039166", "0xa9fea9fe", "0251.0376.0251.0376", "169.254.43518", "[::ffff:169.254.169.254]")
REBIND_S = 3.5
REBIND_PAUSE_S = 0.15
CURL_CODES = {6: "no such name", 7: "no connection", 28: "no answer", 35: "TLS refused", 60: "TLS not trusted"}


def bracketed(address):
    return f"[{address}]" if ":" in address else address


def asked_of_proxy(spelled):
    """An address where a name belongs, in the three places where the proxy reads one."""
    attempt(f"Host {spelled}", said, 80, get(spelled))
    attempt(f"absolute {spelled}", said, 3128, get(spelled, f"http://{spelled}/"))
    attempt(f"CONNECT {spelled}", said, 3128, connect(f"{spelled}:443"))


def direct_to(addresses):
    for address in addresses:
        for port in PORTS:
            attempt(f"TCP {address}:{port}", direct, address, port)
        attempt(f"UDP {address}:53", direct, address, 53, socket.SOCK_DGRAM)
        asked_of_proxy(bracketed(address))


def ipv4():
    direct_to((UNLISTED["v4"], OPEN["v4"], MACHINE["v4"]))
    attempt("TLS named by address", said_over_tls, UNLISTED["v4"], get(UNLISTED["v4"]), None, False)


def ipv6():
    direct_to((UNLISTED["v6"], OPEN["v6"], MACHINE["v6"]))


def mapped():
    hexed = "".join(f"{int(part):02x}" for part in UNLISTED["v4"].split("."))
    low = f"{hexed[:4]}:{hexed[4:]}"
    for prefix in ("::ffff:", "64:ff9b::", "64:ff9b:1::", "::"):
        attempt(f"TCP {prefix}{low}", direct, f"{prefix}{low}", 443)
        attempt(f"UDP {prefix}{low}", direct, f"{prefix}{low}", 443, socket.SOCK_DGRAM)
        asked_of_proxy(f"[{prefix}{low}]")
    attempt("TCP 6to4", direct, f"2002:{low}::1", 443)
    asked_of_proxy(f"[::ffff:{UNLISTED['v4']}]")
    for name in ("mapped", "mapped-private", "nat64", "nat64-private", "6to4"):
        inward(name)


def redirected():
    for scheme, host in (("http", OPEN), ("https", OPEN), ("https", SECRET)):
        for to in (
            "http://10.77.0.1/",
            "http://169.254.169.254/latest/",
            f"http://{MACHINE['v4']}/",
            "http://127.0.0.1:80/",
            f"https://private.{WORLD['inwardZone']}/",
            f"https://{UNLISTED['name']}/",
        ):
            key = ["--header", "X-Key: $API_KEY"] if host is SECRET else []
            attempt(f"{scheme} {host['name']} to {to}", followed, f"{scheme}://{host['name']}/redirect?to={to}", key)


def followed(address, headers):
    command = ["curl", "--silent", "--show-error", "--location", "--max-time", "6", *headers]
    done = subprocess.run([*command, address], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        return f"curl: {CURL_CODES.get(done.returncode, done.returncode)}"
    return done.stdout.strip().split("\n")[0]


def rebinding():
    """The resolver gives a public address and 127.0.0.1 in turn; a check that is made once would be fooled."""
    end, seen = time.monotonic() + REBIND_S, {}
    while time.monotonic() < end:
        got = said(80, get(REBIND["name"]))
        seen[got] = seen.get(got, 0) + 1
        time.sleep(REBIND_PAUSE_S)
    for got in seen:
        attempt(f"{seen[got]} requests", lambda text: text, got)
    attempt("CONNECT", through_tunnel, f"{REBIND['name']}:80", get(REBIND["name"]))
    say(note="both answers were met", holds=any("welcome" in got for got in seen) and any("403" in got for got in seen))


def inward(name):
    full = f"{name}.{WORLD['inwardZone']}"
    attempt(f"http {name}", said, 80, get(full))
    attempt(f"https {name}", said_over_tls, full, get(full), None, False)
    attempt(f"CONNECT {name}", through_tunnel, f"{full}:80", get(full))


def inwards():
    for name in WORLD["inward"]:
        inward(name)
    for name in ("localhost", "host.docker.internal", "sandbox", "ip6-localhost"):
        attempt(f"http {name}", said, 80, get(name))


def metadata():
    for address in METADATA:
        attempt(f"TCP {address}", direct, address, 80)
        asked_of_proxy(bracketed(address))
    for spelled in METADATA_SPELLED:
        asked_of_proxy(spelled)
    for name in ("metadata", "metadata6"):
        inward(name)
    attempt("metadata.google.internal", lambda: str(socket.getaddrinfo("metadata.google.internal", 80)[0][4]))
    attempt("AWS_CONTAINER variables", lambda: "none" if not any("AWS_" in name for name in os.environ) else "some")


ATTEMPTS = {6: ipv4, 7: ipv6, 8: mapped, 14: redirected, 15: rebinding, 16: inwards, 21: metadata}

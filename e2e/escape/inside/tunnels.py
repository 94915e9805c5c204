"""9 to 13, 20 and 22: a connection that says one host and means another."""

import json
import os
import socket
import stat
import sys

from common import (
    MACHINE, NEIGHBOUR, OPEN, OTHER, REACHED, Refused, SECRET, UNLISTED, WAIT_S,
    attempt, connect, direct, enter, get, hello_bytes, read_all, reply_of, said, said_over_tls, through_tunnel, tunnel,
    with_extension,
)  # fmt: skip

KEY = "X-Key: $API_KEY"
ECH, ECH_OLD = 0xFE0D, 0xFE0A
OTHER_PORTS = (22, 25, 53, 853, 3128, 8080, 8443)
WEBSOCKET = ("Upgrade: websocket", "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "Sec-WebSocket-Version: 13")
FOLDERS = ("/run", "/tmp", "/var", "/mnt", "/dev", "/opt")
DEPTH_MAX = 6


def other_host_in_tls():
    for host in (UNLISTED["name"], OTHER["name"], OPEN["name"], f"{SECRET['name']}:8443", f"{SECRET['name']}.evil.example"):
        attempt(f"SNI {SECRET['name']}, Host {host}", said_over_tls, SECRET["name"], get(host, "/", KEY))
    for authority, name in ((OPEN, UNLISTED), (OPEN, SECRET), (SECRET, UNLISTED), (SECRET, OPEN)):
        label = f"CONNECT {authority['name']}, SNI {name['name']}"
        attempt(label, tls_in_tunnel, f"{authority['name']}:443", name["name"])
    attempt(f"SNI {UNLISTED['name']}, Host {OPEN['name']}", said_over_tls, UNLISTED["name"], get(OPEN["name"]))


def tls_in_tunnel(authority, name):
    try:
        return said_over_tls(name, get(name, "/", KEY), tunnel(authority), False)
    except Refused as refused:
        return str(refused)


def no_name():
    attempt("hello without a name", said, 443, hello_bytes(None))
    attempt("in a tunnel", through_tunnel, f"{OPEN['name']}:443", hello_bytes(None))
    attempt("http on 443", said, 443, get(OPEN["name"]))
    attempt("SSH on 443", said, 443, "SSH-2.0-escape\r\n")
    endless = b"\x16\x03\x01\x40\x00\x01\x00\x3f\xfc\x03\x03" + bytes(16000)
    attempt("a hello that never ends", said, 443, endless, 1)
    attempt("SSLv2 hello", said, 443, b"\x80\x2e\x01\x00\x02" + bytes(64))


def encrypted_hello():
    for name in (OPEN["name"], SECRET["name"]):
        for kind in (ECH, ECH_OLD):
            hello = with_extension(hello_bytes(name), kind, bytes([0, 0, 1, 0, 1, 7]) + bytes(200))
            attempt(f"{kind:#x} outer {name}", said, 443, hello)
            attempt(f"{kind:#x} in a tunnel", through_tunnel, f"{name}:443", hello)
    two = with_extension(hello_bytes(OPEN["name"]), 0, b"\0\x13\0\0\x10" + UNLISTED["name"].encode())
    attempt("two names", said, 443, two)


def relayed():
    target = f"{UNLISTED['name']}:443"
    attempt("CONNECT in a tunnel to 443", through_tunnel, f"{OPEN['name']}:443", connect(target))
    attempt("CONNECT in a tunnel to 80", through_tunnel, f"{OPEN['name']}:80", connect(target))
    attempt("CONNECT on port 80", said, 80, connect(target).replace(f"Host: {target}", f"Host: {OPEN['name']}"))
    attempt("CONNECT host on port 80", said, 80, connect(target))
    attempt("CONNECT inside ended TLS", said_over_tls, SECRET["name"], connect(target))
    mixed = connect(target).replace(f"Host: {target}", f"Host: {SECRET['name']}")
    attempt("with its Host", said_over_tls, SECRET["name"], mixed)
    attempt("absolute address in a tunnel to 80", through_tunnel, f"{OPEN['name']}:80", get(OPEN["name"], f"http://{UNLISTED['name']}/"))


def other_port():
    for port in OTHER_PORTS:
        attempt(f"CONNECT {OPEN['name']}:{port}", said, 3128, connect(f"{OPEN['name']}:{port}"))
    for port in (22, 8443):
        attempt(f"http {port}", said, 3128, get(f"{OPEN['name']}:{port}", f"http://{OPEN['name']}:{port}/"))
        attempt(f"Host {port}", said, 80, get(f"{OPEN['name']}:{port}"))
        attempt(f"name {port}", lambda number: direct(socket.gethostbyname(OPEN["name"]), number), port)
    for odd in ("0443", "443x", "65979", "-1", "+443", "443,22", ""):
        attempt(f"port '{odd}'", through_tunnel, f"{UNLISTED['name']}:{odd}", get(UNLISTED["name"]))


def neighbours_socket():
    """`places` are where the machine keeps the neighbour's socket and the proxy's own: the worst that could be known."""
    places = json.loads(sys.argv[2]) if len(sys.argv) > 2 else []
    own = "/run/egress/proxy.sock"
    for host in (NEIGHBOUR["name"], UNLISTED["name"]):
        attempt(f"own socket, {host}", over_unix, own, get(host))
    attempt("own socket, another first line", over_unix, own, get(NEIGHBOUR["name"]), '{"port":80,"container":"x"}\n')
    found = [path for folder in FOLDERS for path in sockets_below(folder)]
    attempt("other sockets in the file system", lambda: ", ".join(path for path in found if path != own) or "none")
    link = "/mnt/data/link.sock"
    for path in places:
        for spelled in (path, f"/run/egress/../..{path}", f"/proc/1/root{path}", f"/proc/1/cwd{path}"):
            attempt(f"place {places.index(path)}", over_unix, spelled, get(NEIGHBOUR["name"]))
        if os.path.lexists(link):
            os.unlink(link)
        os.symlink(path, link)
        attempt(f"link to place {places.index(path)}", over_unix, link, get(NEIGHBOUR["name"]))
    attempt("abstract sockets", abstract)
    attempt("put another socket in its place", lambda: os.rename(own, "/run/egress/mine") or REACHED)


def over_unix(path, text, first='{"port":80}\n'):
    # Longer than the name of a socket may be: reached through its folder, as anybody would.
    folder = os.open(os.path.dirname(path), os.O_PATH)
    with socket.socket(socket.AF_UNIX) as opened:
        opened.settimeout(WAIT_S)
        opened.connect(f"/proc/self/fd/{folder}/{os.path.basename(path)}")
        os.close(folder)
        opened.sendall((first + text).encode())
        return reply_of(read_all(opened))


def sockets_below(folder, depth=0):
    try:
        entries = list(os.scandir(folder)) if depth < DEPTH_MAX else []
    except OSError:
        entries = []
    for entry in entries:
        if entry.is_dir(follow_symlinks=False):
            yield from sockets_below(entry.path, depth + 1)
        elif stat.S_ISSOCK(entry.stat(follow_symlinks=False).st_mode):
            yield entry.path


def abstract():
    with open("/proc/net/unix", encoding="latin-1") as file:
        names = [line.split()[7] for line in file.readlines()[1:] if len(line.split()) > 7]
    met = []
    for name in names:
        if name.startswith("@"):
            with socket.socket(socket.AF_UNIX) as opened:
                opened.connect("\0" + name[1:])
                met.append(f"{REACHED} {name}")
    return ", ".join(met) or "none"


def websocket():
    for port, text in (
        (80, switch(UNLISTED["name"], "/")),
        (3128, switch(UNLISTED["name"], f"http://{UNLISTED['name']}/")),
        (3128, switch(OPEN["name"], f"http://{UNLISTED['name']}/")),
        (80, switch(MACHINE["v4"], "/")),
    ):
        attempt(f"upgrade on {port}", said, port, text)
    for host in (UNLISTED["name"], OTHER["name"]):
        attempt(f"upgrade in ended TLS, {host}", said_over_tls, SECRET["name"], switch(host, "/", KEY))
    attempt("the one that is allowed", upgraded)


def switch(host, path, *headers):
    return get(host, path, *WEBSOCKET, *headers).replace("Connection: close", "Connection: Upgrade")


def upgraded():
    """The allowed one, to see that the others were refused for their host; its server says what it switched for."""
    with enter(80) as opened:
        opened.sendall(switch(OPEN["name"], "/allowed").encode())
        opened.settimeout(1)
        return reply_of(read_all(opened))


ATTEMPTS = {
    9: other_host_in_tls,
    10: no_name,
    11: encrypted_hello,
    12: relayed,
    13: other_port,
    20: neighbours_socket,
    22: websocket,
}

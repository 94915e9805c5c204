"""17 to 19: what is not TCP."""

import ctypes
import fcntl
import os
import socket
import struct
import subprocess

from common import INSIDE, MACHINE, OPEN, REACHED, UNLISTED, WAIT_S, attempt, direct, family_of

QUIC_VERSION = 1
QUIC_BYTES = 1200
CLONE_NEWUSER, CLONE_NEWNET = 0x10000000, 0x40000000
AF_PACKET, AF_VSOCK, AF_XDP = 17, 40, 44
ETH_ALL = 3
TUNSETIFF, IFF_TAP, IFF_NO_PI = 0x400454CA, 0x0002, 0x1000


def quic():
    initial = struct.pack("!BIB8sB8sBH", 0xC3, QUIC_VERSION, 8, os.urandom(8), 8, os.urandom(8), 0, 0x4480)
    initial += os.urandom(QUIC_BYTES - len(initial))
    for address in (UNLISTED["v4"], OPEN["v4"], UNLISTED["v6"], MACHINE["v4"], "255.255.255.255", "224.0.0.251"):
        attempt(f"UDP {address}:443", direct, address, 443, socket.SOCK_DGRAM, initial)
    attempt("UDP 443 of the forwarder", answered, initial)


def answered(data):
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as opened:
        opened.settimeout(1)
        opened.connect((INSIDE, 443))
        opened.send(data)
        return f"{REACHED} {opened.recv(2048)!r}"


def checksum(data):
    total = sum(struct.unpack(f"!{len(data) // 2}H", data))
    total = (total >> 16) + (total & 0xFFFF)
    return ~(total + (total >> 16)) & 0xFFFF


def echo(version):
    kind = 8 if version == 4 else 128
    head = struct.pack("!BBHHH", kind, 0, 0, 1, 1)
    data = b"data that should not leave!!"
    return struct.pack("!BBHHH", kind, 0, checksum(head + data), 1, 1) + data


def icmp():
    for address in (UNLISTED["v4"], OPEN["v4"], MACHINE["v4"], UNLISTED["v6"]):
        version = 6 if ":" in address else 4
        protocol = socket.IPPROTO_ICMPV6 if version == 6 else socket.IPPROTO_ICMP
        for kind, name in ((socket.SOCK_DGRAM, "ping socket"), (socket.SOCK_RAW, "raw socket")):
            attempt(f"{name} {address}", sent, family_of(address), kind, protocol, echo(version), (address, 0))
    attempt("ping program", ping)


def sent(family, kind, protocol, data, to):
    with socket.socket(family, kind, protocol) as opened:
        opened.settimeout(WAIT_S)
        opened.sendto(data, to)
        return f"{REACHED} {to}"


def ping():
    done = subprocess.run(["ping", "-c1", "-W1", UNLISTED["v4"]], capture_output=True, text=True, check=False)
    return REACHED if done.returncode == 0 else (done.stderr or done.stdout).strip()[:80]


def whole_packet(address):
    source, to = socket.inet_aton(MACHINE["v4"]), socket.inet_aton(address)
    data = b"data that should not leave!!"
    udp = struct.pack("!HHHH", 4444, 53, 8 + len(data), 0) + data
    head = struct.pack("!BBHHHBBH4s4s", 0x45, 0, 20 + len(udp), 1, 0, 64, 17, 0, source, to)
    return head[:10] + struct.pack("!H", checksum(head)) + head[12:] + udp


def raw():
    packet = whole_packet(UNLISTED["v4"])
    for protocol in (socket.IPPROTO_RAW, socket.IPPROTO_UDP, socket.IPPROTO_TCP, 47, 132):
        attempt(f"raw {protocol}", sent, socket.AF_INET, socket.SOCK_RAW, protocol, packet, (UNLISTED["v4"], 0))
    attempt("raw IPv6", sent, socket.AF_INET6, socket.SOCK_RAW, socket.IPPROTO_UDP, packet, (UNLISTED["v6"], 0))
    attempt("packet socket", frame, packet)
    attempt("packet socket, cooked", lambda: frame(packet, socket.SOCK_DGRAM))
    attempt("new address by netlink", netlink)
    attempt("tun device", tap, "/dev/net/tun")
    attempt("tun device of its own", own_tap)
    # Never used: a socket of these kinds leads out of the machine, so that making one is already too much.
    for name, family, kind in (("vsock", AF_VSOCK, socket.SOCK_STREAM), ("XDP", AF_XDP, socket.SOCK_RAW)):
        attempt(f"{name} socket", lambda given, sort: socket.socket(given, sort, 0).close() or REACHED, family, kind)
    attempt("all of it in namespaces of its own", in_namespaces, packet)


def frame(packet, kind=socket.SOCK_RAW):
    with socket.socket(AF_PACKET, kind, socket.htons(ETH_ALL)) as opened:
        names = [name for _, name in socket.if_nameindex() if name != "lo"]
        if not names:
            return "made, but there is no interface"
        opened.bind((names[0], ETH_ALL))
        whole = b"\xff" * 6 + bytes(6) + b"\x08\x00" + packet
        if kind == socket.SOCK_RAW:
            opened.send(whole)
        else:
            opened.sendto(packet, (names[0], 0x0800, 0, 1, b"\xff" * 6))
        return REACHED


def tap(path):
    """Opening it is not enough: it must give an interface."""
    opened = os.open(path, os.O_RDWR)
    try:
        fcntl.ioctl(opened, TUNSETIFF, struct.pack("16sH22x", b"escape0", IFF_TAP | IFF_NO_PI))
        return f"{REACHED} an interface was made"
    finally:
        os.close(opened)


def own_tap():
    path = f"/tmp/tun-{os.getpid()}"
    os.mknod(path, 0o20666, os.makedev(10, 200))
    try:
        return tap(path)
    finally:
        os.unlink(path)


def netlink():
    """RTM_NEWADDR for the loopback interface: whoever may do that may also make interfaces and routes."""
    body = struct.pack("!BBBB", socket.AF_INET, 32, 0, 0) + struct.pack("=I", 1)
    body += struct.pack("=HH", 8, 2) + socket.inet_aton("198.51.100.77")
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0) as opened:
        opened.settimeout(WAIT_S)
        opened.bind((0, 0))
        opened.send(struct.pack("=IHHII", 16 + len(body), 20, 0x0005 | 0x0400, 1, 0) + body)
        code = struct.unpack_from("=i", opened.recv(4096), 16)[0]
        if code == 0:
            return f"{REACHED} an address was added"
        raise OSError(-code, "netlink")


def in_namespaces(packet):
    """A user of new namespaces has every right in them; there is only nothing there that leads anywhere."""
    child = os.fork()
    if child > 0:
        code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        return {0: f"{REACHED}", 1: "no new namespaces", 2: "new namespaces, but no way out of them"}.get(code, str(code))
    if ctypes.CDLL(None, use_errno=True).unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0:
        os._exit(1)
    try:
        sent(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_RAW, packet, (UNLISTED["v4"], 0))
        os._exit(0)
    except OSError:
        os._exit(2)


ATTEMPTS = {17: quic, 18: icmp, 19: raw}

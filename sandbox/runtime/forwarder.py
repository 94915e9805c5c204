"""The way out of a container, as programs inside see it: DNS and the ports 80, 443 and 3128 on 127.0.0.1.

Listed names have the address 127.0.0.1, every other name does not exist, and no query ever leaves. Connections are
passed to the unix socket of the host's proxy, which decides; this program decides nothing that matters for safety.

Usage: python3 -I forwarder.py /run/egress
"""

import asyncio
import errno
import json
import os
import resource
import struct
import sys

LOOPBACK = "127.0.0.1"
PORTS = (80, 443, 3128)
DNS_PORT = 53
CONNECTIONS_MAX = 128
DNS_CONNECTIONS_MAX = 16
DNS_IDLE_S = 10
CONNECT_S = 10
CHUNK = 65536
BACKLOG = 128
OPEN_FILES = 1024
NAMES_BYTES_MAX = 1 << 20

NAME_MAX = 253
QUERY_MAX = 512
A, IN, ANY_CLASS = 1, 1, 255
NOERROR, FORMERR, NXDOMAIN, NOTIMP, REFUSED = 0, 1, 3, 4, 5
TTL_S = 5


class Names:
    """The listed names, read again whenever the host has replaced the file."""

    def __init__(self, path):
        self.path = path
        self.stamp = None
        self.exact = frozenset()
        self.suffixes = ()

    def refresh(self):
        try:
            found = os.stat(self.path)
            stamp = (found.st_mtime_ns, found.st_ino, found.st_size)
            if stamp == self.stamp:
                return
            with open(self.path, "rb") as file:
                names = json.loads(file.read(NAMES_BYTES_MAX))
            listed = [str(name).lower().rstrip(".") for name in names]
        except (OSError, ValueError, TypeError):
            # Nothing readable means nothing listed. A half-written file is read again at the next query.
            self.stamp, self.exact, self.suffixes = None, frozenset(), ()
            return
        self.stamp = stamp
        self.exact = frozenset(name for name in listed if not name.startswith("*."))
        self.suffixes = tuple(name[1:] for name in listed if name.startswith("*."))

    def has(self, name):
        self.refresh()
        return name in self.exact or any(name.endswith(tail) and len(name) > len(tail) for tail in self.suffixes)


def read_question(query):
    """Gives (name, type, class, end of the question), or None when it cannot be read."""
    labels, at, length = [], 12, 0
    while True:
        if at >= len(query):
            return None
        size = query[at]
        if size == 0:
            break
        if size > 63 or at + 1 + size > len(query):
            return None
        labels.append(query[at + 1 : at + 1 + size])
        length += size + 1
        if length > NAME_MAX + 1:
            return None
        at += 1 + size
    if at + 5 > len(query):
        return None
    kind, group = struct.unpack_from("!HH", query, at + 1)
    return b".".join(labels).decode("latin-1").lower(), kind, group, at + 5


def reply(query, code, end, answer=b""):
    flags = 0x8480 | (query[2] & 0x01) << 8 | code  # an answer, authoritative; the recursion bit as it was asked
    counts = struct.pack("!HHHH", 1 if end > 12 else 0, 1 if answer else 0, 0, 0)
    return query[:2] + struct.pack("!H", flags) + counts + query[12:end] + answer


def answer_query(query, names):
    """The whole of DNS in here. None for what is not even a query."""
    if len(query) < 12 or query[2] & 0x80:
        return None
    if query[2] & 0x78:
        return reply(query, NOTIMP, 12)
    if struct.unpack_from("!H", query, 4)[0] != 1:
        return reply(query, FORMERR, 12)
    question = read_question(query)
    if question is None:
        return reply(query, FORMERR, 12)
    name, kind, group, end = question
    if group not in (IN, ANY_CLASS):
        return reply(query, REFUSED, end)
    if not names.has(name):
        return reply(query, NXDOMAIN, end)
    if kind != A:
        return reply(query, NOERROR, end)
    record = struct.pack("!HHHIH4B", 0xC00C, A, IN, TTL_S, 4, 127, 0, 0, 1)
    return reply(query, NOERROR, end, record)


class DnsOverUdp(asyncio.DatagramProtocol):
    def __init__(self, names):
        self.names = names

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, address):
        if len(data) > QUERY_MAX:
            return
        answer = answer_query(data, self.names)
        if answer is not None:
            self.transport.sendto(answer, address)


def bounded(limit, serve):
    """Serves at most `limit` connections at once; further ones are closed."""
    open_now = 0

    async def handle(reader, writer):
        nonlocal open_now
        if open_now >= limit:
            writer.transport.abort()
            return
        open_now += 1
        try:
            await serve(reader, writer)
        except (OSError, EOFError, asyncio.TimeoutError):
            writer.transport.abort()
        finally:
            open_now -= 1
            writer.close()

    return handle


def dns_over_tcp(names):
    async def serve(reader, writer):
        while True:
            head = await asyncio.wait_for(reader.readexactly(2), DNS_IDLE_S)
            length = struct.unpack("!H", head)[0]
            if length > QUERY_MAX:
                return
            answer = answer_query(await asyncio.wait_for(reader.readexactly(length), DNS_IDLE_S), names)
            if answer is None:
                return
            writer.write(struct.pack("!H", len(answer)) + answer)
            await asyncio.wait_for(writer.drain(), DNS_IDLE_S)

    return serve


async def pump(reader, writer):
    """Copies one direction, and passes its end on without ending the other."""
    while True:
        chunk = await reader.read(CHUNK)
        if not chunk:
            break
        writer.write(chunk)
        await writer.drain()
    if writer.can_write_eof():
        writer.write_eof()


def forward(proxy_path, port):
    preamble = b'{"port":%d}\n' % port

    async def serve(reader, writer):
        opening = asyncio.open_unix_connection(proxy_path, limit=CHUNK)
        proxy_reader, proxy_writer = await asyncio.wait_for(opening, CONNECT_S)
        try:
            proxy_writer.write(preamble)
            both = [asyncio.ensure_future(pump(reader, proxy_writer)), asyncio.ensure_future(pump(proxy_reader, writer))]
            done, pending = await asyncio.wait(both, return_when=asyncio.FIRST_EXCEPTION)
            for task in pending:
                task.cancel()
            for task in done:
                task.result()
        finally:
            proxy_writer.close()

    return serve


async def main(folder):
    names = Names(os.path.join(folder, "names.json"))
    proxy_path = os.path.join(folder, "proxy.sock")
    loop = asyncio.get_running_loop()
    try:
        await loop.create_datagram_endpoint(lambda: DnsOverUdp(names), local_addr=(LOOPBACK, DNS_PORT))
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        # A host that was restarted asks for what is there already: one forwarder is enough.
        print("ready", flush=True)
        return
    await asyncio.start_server(bounded(DNS_CONNECTIONS_MAX, dns_over_tcp(names)), LOOPBACK, DNS_PORT, backlog=BACKLOG)
    for port in PORTS:
        handle = bounded(CONNECTIONS_MAX, forward(proxy_path, port))
        await asyncio.start_server(handle, LOOPBACK, port, backlog=BACKLOG, limit=CHUNK)
    print("ready", flush=True)
    await asyncio.Event().wait()


if __name__ == "__main__":
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    asyncio.run(main(sys.argv[1]))

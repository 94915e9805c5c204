# Asks a host over https again and again, and prints how long an answer took at the median, in ms: with a connection
# for each ("fresh"), and over one that stays open ("kept"). One process, so that starting it is not counted.
import http.client
import json
import ssl
import statistics
import sys
import time

host, requests, authorization, ca = sys.argv[1], int(sys.argv[2]), sys.argv[3], sys.argv[4]
context = ssl.create_default_context()
context.load_verify_locations(cadata=ca)


def connect():
    return http.client.HTTPSConnection(host, 443, context=context, timeout=30)


def ask(connection):
    connection.request("GET", "/", headers={"Authorization": authorization})
    reply = connection.getresponse()
    assert reply.status == 200, reply.status
    assert reply.read() == f"hello {host} /".encode()


def timed(work):
    began = time.perf_counter()
    work()
    return (time.perf_counter() - began) * 1000


def ask_once():
    connection = connect()
    ask(connection)
    connection.close()


ask_once()
fresh = [timed(ask_once) for _ in range(requests)]
connection = connect()
ask(connection)
kept = [timed(lambda: ask(connection)) for _ in range(requests)]
print(json.dumps({"fresh": statistics.median(fresh), "kept": statistics.median(kept)}))

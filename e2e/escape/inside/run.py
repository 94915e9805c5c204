"""Runs one attempt by its number: python3 run.py NUMBER [JSON]"""

import sys

import addresses
import http_requests
import limits
import names
import packets
import tunnels
from common import control

ATTEMPTS = {
    **names.ATTEMPTS,
    **addresses.ATTEMPTS,
    **tunnels.ATTEMPTS,
    **packets.ATTEMPTS,
    **http_requests.ATTEMPTS,
    **limits.ATTEMPTS,
}

if __name__ == "__main__":
    ATTEMPTS[int(sys.argv[1])]()
    control()

import os
import sys
import urllib.request

request = urllib.request.Request(sys.argv[1], headers={"X-Key": os.environ["API_KEY"]})
print(urllib.request.urlopen(request, timeout=30).read().decode())

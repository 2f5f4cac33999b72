"""What of a storage node of Swift lies where its rings do not send it: misplaced.py RING=FOLDER...

Prints a line of JSON for each ring: its name, the MD5 of its file, and the partitions below /srv/node/<device>/FOLDER that
the device does not have by the ring. There are none once replicators have brought everything to where it belongs.
"""
import glob
import hashlib
import json
import os
import sys

from swift.common.ring import Ring

rings = '/etc/swift/rings'
host = os.uname().nodename

for argument in sys.argv[1:]:
    name, folder = argument.split('=')
    with open(f'{rings}/{name}.ring.gz', 'rb') as file:
        digest = hashlib.md5(file.read(), usedforsecurity=False).hexdigest()
    ring = Ring(rings, ring_name=name)
    own = {device['device']: device['id'] for device in ring.devs if device and device['ip'].split('.')[0] == host}
    misplaced = []
    for path in glob.glob(f'/srv/node/*/{folder}/*'):
        device, _, partition = path.split('/')[3:]
        if not partition.isdigit():
            continue
        if own.get(device) not in [node['id'] for node in ring.get_part_nodes(int(partition))]:
            misplaced.append(f'{device}/{folder}/{partition}')
    print(json.dumps({'name': name, 'digest': digest, 'misplaced': misplaced}))

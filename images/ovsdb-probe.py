# python3 -: exits 0 when python-ovs connects to an address although there is no module `unbound`.
import os
import socket
import sys

sys.modules['unbound'] = None
import ovs.stream

server = socket.create_server(('127.0.0.1', 0))
remote = f'tcp:127.0.0.1:{server.getsockname()[1]}'
error, stream = ovs.stream.Stream.open_block(ovs.stream.Stream.open(remote), 5000)
if error:
    sys.exit(f'{remote}: {os.strerror(error)}')

"""Messages of a service's own: publisher.py publish SECONDS | count.

Publishes a durable message to a quorum queue a few times a second by the address that the service has, waits for each to be
confirmed, and prints how many were, and the longest time in ms between two that were. Or prints how many there are, and
removes the queue.
"""
import os
import sys
import time

import amqp
from kombu.utils.url import parse_url

url = parse_url(os.environ['OS_DEFAULT__TRANSPORT_URL'].replace('rabbit:', 'amqp:', 1))
queue = 'quorum-test'
declare = dict(durable=True, auto_delete=False, arguments={'x-queue-type': 'quorum'})


def connect():
    connection = amqp.Connection(
        host=f"{url['hostname']}:{url['port']}", userid=url['userid'], password=url['password'],
        virtual_host=url['virtual_host'], confirm_publish=True, connect_timeout=2, read_timeout=8, write_timeout=8)
    connection.connect()
    return connection


def publish(seconds):
    end = time.monotonic() + seconds
    last = time.monotonic()
    confirmed = longest = 0
    connection = None
    while time.monotonic() < end:
        try:
            if connection is None:
                connection = connect()
                channel = connection.channel()
                channel.queue_declare(queue, **declare)
            channel.basic_publish_confirm(amqp.Message(str(confirmed), delivery_mode=2), routing_key=queue, timeout=8)
            confirmed += 1
            longest = max(longest, time.monotonic() - last)
            last = time.monotonic()
            time.sleep(0.05)
        except Exception:
            if connection is not None:
                connection.collect()
            connection = None
            time.sleep(0.1)
    print(confirmed, round(max(longest, time.monotonic() - last) * 1000))


def count():
    channel = connect().channel()
    print(channel.queue_declare(queue, **declare).message_count)
    channel.queue_delete(queue)


if sys.argv[1] == 'count':
    count()
else:
    publish(float(sys.argv[2]))

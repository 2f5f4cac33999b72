"""The OpenStack SDK for a program that is not Python: a request a line on standard input, an answer a line on standard
output, so that a call costs what the cloud takes and not the start of a client.

    {"id": 1, "as": {"cloud": "my-cloud"}, "call": "compute.create_server", "args": [], "kwargs": {"name": "a"}}
    {"id": 1, "result": {...}}   or   {"id": 1, "error": {"kind": "ForbiddenException", "status": 403, "message": "..."}}

`as` is what openstack.connect() takes; a connection is kept for each. Requests run beside each other."""

import base64
import json
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from types import GeneratorType

import openstack
import requests
from openstack.resource import Resource

connections = {}
connecting = threading.Lock()
printing = threading.Lock()


def connection(identity):
    key = json.dumps(identity, sort_keys=True)
    with connecting:
        if key not in connections:
            connections[key] = openstack.connect(**identity)
        return connections[key]


def plain(value):
    """What JSON can say of an answer of the SDK."""
    if isinstance(value, Resource):
        return plain(value.to_dict(computed=False))
    if isinstance(value, requests.Response):
        return {"status": value.status_code, "text": value.text}
    if isinstance(value, dict):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, set, GeneratorType)):
        return [plain(item) for item in value]
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if value is None or isinstance(value, (str, int, float, bool)):
        return value
    return str(value)


def perform(request):
    target = connection(request["as"])
    for name in request["call"].split("."):
        target = getattr(target, name)
    # Some of what the SDK knows are properties.
    return plain(target(*request["args"], **request["kwargs"]) if callable(target) else target)


def answer(line):
    request = json.loads(line)
    try:
        reply = {"result": perform(request)}
    except Exception as error:
        status = getattr(error, "status_code", getattr(error, "http_status", None))
        reply = {"error": {"kind": type(error).__name__, "status": status, "message": str(error)}}
    with printing:
        print(json.dumps({"id": request["id"], **reply}), flush=True)


with ThreadPoolExecutor(8) as pool:
    for line in sys.stdin:
        pool.submit(answer, line)

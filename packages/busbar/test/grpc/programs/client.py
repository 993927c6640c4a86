"""Calls the service of `app` by grpcio. The messages are few, so they are written by hand."""

import json
import sys

import grpc


def text(value):
    data = value.encode()
    return bytes([0x0A, len(data)]) + data


def number(value):
    return bytes([0x08, value])


def first_number(message):
    return message[1] if message[:1] == b"\x08" else 0


def status_of(call):
    try:
        call()
    except grpc.RpcError as error:
        return error.code().name
    return "OK"


def main(address):
    channel = grpc.insecure_channel(address)
    path = "/test.v1.ThingService/"
    unary = lambda name: channel.unary_unary(path + name)
    find, slow = unary("GetThing"), unary("Slow")
    values = lambda: iter([number(1), number(2), number(3)])
    answers = {
        "unary": find(text("a"))[2:].decode(),
        "missing": status_of(lambda: find(text("none"))),
        # 60,000 milliseconds
        "late": status_of(lambda: slow(b"\x08\xe0\xd4\x03", timeout=0.2)),
        "unknown": status_of(lambda: unary("Nothing")(b"")),
        "numbers": [first_number(each) for each in channel.unary_stream(path + "Numbers")(number(3))],
        "sum": first_number(channel.stream_unary(path + "Sum")(values())),
        "doubled": [first_number(each) for each in channel.stream_stream(path + "Doubled")(values())],
        "compressed": find(text("a"), compression=grpc.Compression.Gzip)[2:].decode(),
    }
    channel.close()
    print(json.dumps(answers))


main(sys.argv[1])

#!/usr/bin/env python3
"""hostile.py   a model server that means harm. Prints its port, and serves until it is killed.

The first segment of the path says how it misbehaves, what follows does not matter: http://127.0.0.1:PORT/MODE. Where a mode
says "the key", it is what the request carried as one, in whatever header or query. Every request's line and headers are
appended to the file hostile.log."""
import gzip
import io
import json
import socket
import sys
import threading
import zlib

PIECE = 1 << 16
LOG = open("hostile.log", "a", buffering=1)
SSE = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n"


def key_of(path, headers):
    for name in ("authorization", "x-api-key", "x-goog-api-key", "api-key", "x-amz-security-token"):
        if name in headers and not headers[name].startswith("AWS4"):
            return headers[name].split()[-1]
    return path.partition("key=")[2].partition("&")[0] or headers.get("x-extra", "")


def forever(s, piece, limit=12 << 30):
    """Sends piece until nobody listens any more; the log says how much of it went."""
    sent = 0
    try:
        while sent < limit:
            s.sendall(piece)
            sent += len(piece)
    except OSError:
        pass
    LOG.write("sent %d MiB\n" % (sent >> 20))


def gzipped(mib, piece=b"\0", head=b"", tail=b""):
    out = io.BytesIO()
    with gzip.GzipFile(fileobj=out, mode="wb", compresslevel=9) as z:
        z.write(head)
        for _ in range(mib):
            z.write(piece * ((1 << 20) // len(piece)))
        z.write(tail)
    return out.getvalue()


def refusal(s, k, path, headers):
    body = json.dumps({"type": "error", "error": {
        "type": "authentication_error", "code": "bad_" + k,
        "message": "Incorrect API key provided: %s. %s" % (k, json.dumps({"k": k}))}}).encode()
    s.sendall(b"HTTP/1.1 401 No %s\r\nrequest-id: r-%s\r\ncontent-length: %d\r\n\r\n" %
              (k.encode(), k.encode(), len(body)) + body)


def sse(s, *events):
    s.sendall(SSE + b"\r\n")
    for e in events:
        s.sendall(b"data: " + (e if isinstance(e, bytes) else json.dumps(e).encode()) + b"\n\n")


def chunk(delta, finish=None, **more):
    return {"id": "c", "object": "chat.completion.chunk", "choices": [
        {"index": 0, "delta": delta, "finish_reason": finish}], **more}


def call(i, ident, name, args):
    return {"index": i, "id": ident, "type": "function", "function": {"name": name, "arguments": args}}


def named(s, k, path, headers):
    sse(s, chunk({"content": "hi"}, id=k, model=k, system_fingerprint=k), chunk({}, "stop", model=k), b"[DONE]")


def midway(s, k, path, headers):
    sse(s, chunk({"content": "hi"}), {"error": {"message": "no more for " + k, "code": k, "type": k}})


def redirect(s, k, path, headers):
    to = path.partition("to=")[2]
    s.sendall(b"HTTP/1.1 307 Elsewhere\r\nlocation: http://127.0.0.1:%s/ok?was=%s\r\ncontent-length: 0\r\n\r\n" %
              (to.encode(), k.encode()))


def escapes(s, k, path, headers):
    evil = "\x1b]0;pwned\x07\x1b[2J\u202egnp\r\nfake: line\x9b31m"
    sse(s, chunk({"content": "hi"}, id=evil, model=evil), {"error": {"message": evil, "code": evil, "type": evil}})


def bytes_of_no_text(s, k, path, headers):
    bad = bytes(range(1, 10)) + bytes(range(14, 34)) + bytes(range(35, 92)) + bytes(range(93, 256))
    s.sendall(b"HTTP/1.1 400 \xff\xfe\r\nrequest-id: \xff\xc0\x80\x1b[31m\r\n\r\n{\"error\":{\"message\":\"" + bad +
              b"\",\"code\":\"" + bad + b"\",\"type\":\"" + bad + b"\"}}")


def heads(s, k, path, headers):
    s.sendall(b"HTTP/1.1 200 OK\r\n")
    forever(s, b"".join(b"x-%d: %s\r\n" % (i, b"a" * 1000) for i in range(64)))


def one_head(s, k, path, headers):
    s.sendall(b"HTTP/1.1 200 OK\r\nx: ")
    forever(s, b"a" * PIECE)


def hundreds(s, k, path, headers):
    forever(s, b"HTTP/1.1 103 Early Hints\r\nlink: <x>\r\n\r\n" * 1000)


def comments(s, k, path, headers):
    s.sendall(SSE + b"\r\n")
    forever(s, b": keep-alive\n\n" * 4096)


def blanks(s, k, path, headers):
    s.sendall(SSE + b"\r\n")
    forever(s, b" \r\n\t" * (PIECE // 4))


def one_line(s, k, path, headers):
    s.sendall(SSE + b"\r\ndata: ")
    forever(s, b"a" * PIECE)


def page(s, k, path, headers):
    s.sendall(SSE + b"\r\n<html>")
    forever(s, b"a" * PIECE)


def text(s, k, path, headers):
    s.sendall(SSE + b"\r\n")
    forever(s, b"data: " + json.dumps(chunk({"content": "a" * 60000})).encode() + b"\n\n")


def arguments(s, k, path, headers):
    sse(s, chunk({"tool_calls": [call(0, "i", "Bash", "")]}))
    forever(s, b"data: " + json.dumps(chunk({"tool_calls": [call(0, None, None, "a" * 60000)]})).encode() + b"\n\n")


def calls(s, k, path, headers):
    s.sendall(SSE + b"\r\n")
    for i in range(1000000):
        try:
            s.sendall(b"data: " + json.dumps(chunk({"tool_calls": [call(i, "i%d" % i, "Bash", "{}")]})).encode() + b"\n\n")
        except OSError:
            break


def deep(s, k, path, headers):
    sse(s, b"[" * 1000000, chunk({"content": "hi"}), chunk({"tool_calls": [call(0, "i", "X", '{"a":' * 100000)]}),
        chunk({}, "tool_calls"), b"[DONE]")


def tokens(s, k, path, headers):
    s.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n[0")
    for _ in range(510):
        s.sendall(b",0" * 65536)
    s.sendall(b"]")


def event_tokens(s, k, path, headers):
    s.sendall(SSE + b"\r\ndata: {\"choices\":[0")
    for _ in range(510):
        s.sendall(b",0" * 65536)
    s.sendall(b"]}\n\n")
    sse_end = json.dumps(chunk({"content": "hi"}, "stop")).encode()
    s.sendall(b"data: " + sse_end + b"\n\ndata: [DONE]\n\n")


def names(s, k, path, headers):
    big = "n" * (1 << 20)
    sse(s, chunk({"tool_calls": [call(0, big, big, "{}")]}, id=big, model=big), chunk({}, "tool_calls"), b"[DONE]")


def bomb(s, k, path, headers):
    body = gzipped(256)
    s.sendall(SSE + b"content-encoding: gzip\r\ncontent-length: %d\r\n\r\n" % len(body) + body)


def bomb_twice(s, k, path, headers):
    body = gzip.compress(gzipped(256), 9)
    s.sendall(SSE + b"content-encoding: gzip, gzip\r\ncontent-length: %d\r\n\r\n" % len(body) + body)


def bomb_blank(s, k, path, headers):
    body = gzipped(256, b"\n", tail=b"data: " + json.dumps(chunk({"content": "hi"}, "stop")).encode() + b"\n\ndata: [DONE]\n\n")
    s.sendall(SSE + b"content-encoding: gzip\r\ncontent-length: %d\r\n\r\n" % len(body) + body)


def slow(s, k, path, headers):
    s.sendall(SSE + b"\r\n")
    stop = threading.Event()
    try:
        while not stop.wait(0.2):
            s.sendall(b":")
    except OSError:
        pass


def frames(s, k, path, headers):
    lying = (0x7fffffff).to_bytes(4, "big") + (16).to_bytes(4, "big")
    if "short" in path:
        lying = (3).to_bytes(4, "big") + (0).to_bytes(4, "big")
    elif "heads" in path:
        lying = (64).to_bytes(4, "big") + (0xfffffff0).to_bytes(4, "big")
    if "crc" not in path:
        lying += zlib.crc32(lying).to_bytes(4, "big")
    s.sendall(b"HTTP/1.1 200 OK\r\ncontent-type: application/vnd.amazon.eventstream\r\nconnection: close\r\n\r\n" + lying)
    forever(s, b"\0" * PIECE)


def models(s, k, path, headers):
    evil = "\x1b]0;pwned\x07\x1b[2J\u202e"
    body = json.dumps({"data": [{"id": evil + "m", "max_model_len": 4096}, {"id": "n" * 100000}, {"id": k}]}).encode()
    s.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: %d\r\n\r\n" % len(body) + body)


def ok(s, k, path, headers):
    sse(s, chunk({"content": "hi"}), chunk({}, "stop"), b"[DONE]")


MODES = {f.__name__: f for f in (refusal, named, midway, redirect, escapes, bytes_of_no_text, heads, one_head, hundreds,
                                 comments, blanks, one_line, page, text, arguments, calls, deep, tokens, event_tokens, names,
                                 bomb, bomb_twice, bomb_blank, slow, frames, models, ok)}


def serve(s):
    f = s.makefile("rb")
    path = f.readline().split()[1].decode()
    headers = {}
    while (line := f.readline().decode("latin-1").strip()):
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    f.read(int(headers.get("content-length", "0")))
    LOG.write(json.dumps({"path": path, **headers}) + "\n")
    try:
        MODES[path.lstrip("/").partition("/")[0].partition("?")[0]](s, key_of(path, headers), path, headers)
        s.shutdown(socket.SHUT_WR)
    except OSError:
        pass
    s.close()


def main():
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    while True:
        s, _ = listener.accept()
        threading.Thread(target=serve, args=(s,), daemon=True).start()


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""relay.py unix SOCKET PORT   what comes over a unix socket goes to a port of this machine
relay.py proxy [NAME:PASSWORD] [PORT] a proxy: HTTP (CONNECT and whole URLs) and SOCKS 5 at one port; every name leads to PORT here

Prints a line when it listens (its port, for a proxy) and serves until it is killed. What was asked of a proxy is appended to
the file proxy.log: "connect HOST:PORT", "get URL", "socks HOST:PORT"."""
import base64
import os
import socket
import sys
import threading


def copy(a, b):
    try:
        while data := a.recv(65536):
            b.sendall(data)
    except OSError:
        pass
    for s, how in ((b, socket.SHUT_WR), (a, socket.SHUT_RD)):
        try:
            s.shutdown(how)
        except OSError:
            pass


def join(a, b):
    t = threading.Thread(target=copy, args=(a, b), daemon=True)
    t.start()
    copy(b, a)
    t.join()
    a.close()
    b.close()


def note(line):
    with open('proxy.log', 'a') as f:
        f.write(line + '\n')


def out(host, port):
    return socket.create_connection(('127.0.0.1', int(sys.argv[3]) if len(sys.argv) > 3 else port))


def socks(c):
    c.recv(1)
    c.recv(c.recv(1)[0])
    c.sendall(b'\x05\x00')
    kind = c.recv(4)[3]
    host = c.recv(c.recv(1)[0]).decode() if kind == 3 else socket.inet_ntoa(c.recv(4))
    port = int.from_bytes(c.recv(2), 'big')
    note(f'socks {host}:{port}')
    s = out(host, port)
    c.sendall(b'\x05\x00\x00\x01\x00\x00\x00\x00\x00\x00')
    join(c, s)


def http(c, login):
    head = b''
    while b'\r\n\r\n' not in head:
        data = c.recv(65536)
        if not data:
            return
        head += data
    method, target, _ = head.split(b'\r\n')[0].decode().split(' ')
    note(('connect ' if method == 'CONNECT' else 'get ') + target)
    if login and b'basic ' + base64.b64encode(login.encode()).lower() not in head.lower():
        c.sendall(b'HTTP/1.1 407 Who are you\r\nproxy-authenticate: Basic realm="x"\r\ncontent-length: 0\r\n\r\n')
        c.close()
        return
    host, _, port = (target if method == 'CONNECT' else target.split('/')[2]).partition(':')
    s = out(host, int(port or 80))
    if method == 'CONNECT':
        c.sendall(b'HTTP/1.1 200 OK\r\n\r\n')
    else:
        s.sendall(head)
    join(c, s)


def serve(c, login):
    try:
        if c.recv(1, socket.MSG_PEEK) == b'\x05':
            socks(c)
        else:
            http(c, login)
    except (OSError, IndexError, ValueError):
        c.close()


if sys.argv[1] == 'unix':
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(sys.argv[2])
    listener.listen(64)
    print('ready', flush=True)
else:
    listener = socket.create_server(('127.0.0.1', 0))
    print(listener.getsockname()[1], flush=True)
os.close(1)
while True:
    client, _ = listener.accept()
    if sys.argv[1] == 'unix':
        try:
            todo = (join, (client, socket.create_connection(('127.0.0.1', int(sys.argv[3])))))
        except OSError:
            client.close()
            continue
    else:
        todo = (serve, (client, sys.argv[2] if len(sys.argv) > 2 else ''))
    threading.Thread(target=todo[0], args=todo[1], daemon=True).start()

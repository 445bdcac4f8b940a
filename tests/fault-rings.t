#!/bin/sh
# Kinds of faults that people met, through the whole ring and over every wire: what a model says, an interrupt, or the output of a
# tool may not leave a session behind that a provider refuses. The names say the kind.
. "${0%/*}/lib.sh"
cat >rings.py <<'END'
import json, os, signal, subprocess, sys, time
from wires import *

server = Server()
base = os.environ["T"]
class Home:
    """A user with one provider, of one wire."""
    def __init__(self, wire, kind):
        self.wire, self.key, self.dir = wire, f"{wire}-{kind}", f"{base}/{wire}-{kind}"
        os.makedirs(self.dir + "/.config/claws"); os.makedirs(self.dir + "/work")
        with open(self.dir + "/.config/claws/providers.json", "w") as f:
            json.dump([{"name": "p", "wire": wire, "base_url": f"http://127.0.0.1:{server.server_port}/{self.key}", "key": "optional", "auth": "bearer", "context": 100000}], f)
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("CLAWS", "XDG"))}
        self.env.update(HOME=self.dir, TMPDIR=self.dir, CLAWS_BREAKER="off", CLAWS_API_KEY="key-of-the-tests", AWS_BEARER_TOKEN_BEDROCK="key-of-the-tests")
    def serve(self, *answers):
        """One answer a request, the last one for ever; bytes, or a function of the handler."""
        def does(h, n):
            a = answers[min(n, len(answers)) - 1]
            if callable(a): return a(h)
            h.start(kind=WORDS[self.wire]["mime"]); h.say(a)
        server.plan[self.key] = does
        server.bodies[self.key] = []
    def start(self, *args):
        return subprocess.Popen(["claws", "-n", "-p", "--json", "--permission-mode", "accept-all", "--max-turns", "20", "-m", "p/m", *args], cwd=self.dir + "/work", env=self.env,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, restore_signals=True,
                                preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL))
    def end(self, p):
        try: out, err = p.communicate(timeout=20)
        except subprocess.TimeoutExpired: p.kill(); out, err = p.communicate(); err += b"TIMEOUT"
        self.status, self.err = p.returncode, err.decode()
        self.lines = [json.loads(l) for l in out.decode().splitlines()]
        self.results = [l for l in self.lines if l.get("role") == "tool"]
        self.said = [l for l in self.lines if l.get("role") == "assistant"]
        return self
    def run(self, *args): return self.end(self.start(*args))
    def sent(self): return server.bodies[self.key]
    def legal(self):
        bad = [(i, b) for i, x in enumerate(self.sent()) for b in refusals(self.wire, x)]
        log = subprocess.run(["claws-session", "cat"] + [self.log()], env=self.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if log.returncode: bad.append(log.stderr)
        return bad
    def log(self):
        d = self.dir + "/.local/state/claws/sessions"
        return max((f"{d}/{f}" for f in os.listdir(d) if f.endswith(".ndjson")), key=os.path.getmtime)
    def tell(self, ok, name, detail=None):
        bad = self.legal()
        report(ok and not bad, f"{name} {self.wire}", detail or (bad, self.status, self.err[-200:], self.results, [l for l in self.lines if l.get("type") == "error"],
                                                                 [x[-900:] for x in self.sent()[-1:]]))

def wait(test):
    for i in range(500):
        if test(): return True
        time.sleep(0.02)
    return False

def interrupted_tool(wire):
    h = Home(wire, "rq01")
    h.serve(answer(wire, "well", [("c1", "Bash", '{"command":"echo a >started; sleep 30"}'), ("c2", "Bash", '{"command":"sleep 31"}')]), answer(wire, "on"))
    p = h.start("go")
    up = wait(lambda: os.path.exists(h.dir + "/work/started"))
    p.send_signal(signal.SIGINT)
    h.end(p)
    h.tell(up and h.status == 130 and len(h.results) == 2 and "interrupt" in h.results[0]["content"], "RQ01 an interrupt of a tool")
    h.run("-c", "and?")
    h.tell(h.status == 0 and h.said[-1]["content"] == "on" and len(h.sent()) == 2, "RQ01 and the next prompt")

def interrupted_text(wire):
    h = Home(wire, "rq05")
    part = head(wire) + WORDS[wire]["text"](["Hello ", "\n"])
    def stalls(x): x.start(kind=WORDS[wire]["mime"]); x.say(part); time.sleep(20)
    h.serve(stalls, answer(wire, "on"))
    p = h.start("go")
    seen = b""
    while b"Hello" not in seen: seen += os.read(p.stdout.fileno(), 65536) or b"Hello"
    p.send_signal(signal.SIGINT)
    h.end(p)
    h.run("-c", "go on")
    h.tell(h.status == 0 and len(h.sent()) == 2 and b"Hello" in h.sent()[1], "RQ05 an interrupted answer that ends in white space")

def bad_arguments(wire):
    kinds = ("null", "[]", '"a"', "3", "true", '[{"command":"touch p"}]', '"{\\"command\\":[7]}"')
    if WORDS[wire]["args"]: kinds += ('{"command": "touch p', '{"command":"touch p"}}', "{'command':'touch p'}", '{"command":"touch p"}{"command":"touch q"}')
    h = Home(wire, "rq14")
    h.serve(answer(wire, "well", [(f"c{i}", "Bash", k) for i, k in enumerate(kinds)]), answer(wire, "done"))
    h.run("go")
    h.tell(h.status == 0 and len(h.results) == len(kinds) and all(r["is_error"] for r in h.results) and not os.path.exists(h.dir + "/work/p"), "RQ14 RQ15 arguments that are none")
    if WORDS[wire]["args"]: report(any('{"command": "touch p' in r["content"] for r in h.results), f"RQ14 the raw text is in the result {wire}", h.results)
    h.run("-c", "and?")
    h.tell(h.status == 0, "RQ14 RQ15 and the next prompt")

def same_for_ever(wire):
    h = Home(wire, "rq18")
    h.serve(answer(wire, "again", [("c1", "Bash", '{"command":7}')]))
    h.run("go")
    h.tell(h.status == 1 and 2 <= len(h.sent()) <= 6, "RQ18 the same bad call for ever")
    h.serve(answer(wire, "now"))
    h.run("-c", "and?")
    h.tell(h.status == 0, "RQ18 and the next prompt")
    h = Home(wire, "st18")
    h.serve(answer(wire, "a long", [("c1", "Write", '{"file_path":"p","content":"half')] if WORDS[wire]["args"] else [("c1", "Write", '{"file_path":"p"}')], stop=2))
    h.run("go")
    h.tell(h.status == 4 and 2 <= len(h.sent()) <= 4 and not os.path.exists(h.dir + "/work/p"), "ST18 a call cut by the limit, for ever")
    h.serve(answer(wire, "now"))
    h.run("-c", "and?")
    h.tell(h.status == 0, "ST18 and the next prompt")

def ids(wire):
    for kind, first in (("none", None), ("empty", ""), ("same", "call_0"), ("odd", "functions.Bash:0/é")):
        h = Home(wire, "rq20" + kind)
        two = answer(wire, "", [(first, "Bash", '{"command":"echo one"}'), (first, "Bash", '{"command":"echo two"}')])
        h.serve(two, two, answer(wire, "done"))
        h.run("go")
        if kind == "none" and wire in ("anthropic", "anthropic-vertex", "bedrock-invoke", "bedrock-converse", "openai-responses", "cohere") and h.status == 76: pass
        out = [r["content"].strip() for r in h.results]
        h.tell(h.status == 0 and out == ["one", "two"] * 2, f"RQ19 RQ20 ids: {kind}")

def odd_text(wire):
    h = Home(wire, "rq02")
    lone = answer(wire, "well \ud83d", [("c1", "Bash", '{"command":"printf \'%s\' \'a\\ud99cb\'"}')])
    h.serve(lone, answer(wire, "x\udc00"), answer(wire, "on"))
    h.run("go")
    h.tell(h.status == 0 and len(h.results) == 1 and "a\ufffdb" in h.results[0]["content"], "RQ02 lone surrogates")
    h.run("-c", "and?")
    h.tell(h.status == 0 and len(h.sent()) == 3, "RQ02 and the next prompt")
    h = Home(wire, "rq22")
    h.serve(answer(wire, "a\0b", [("c1", "Bash", '{"command":"printf \'needle\\\\0haystack\'"}'), ("c2", "Bash", '{"command":"echo x\\u0000y"}')]), answer(wire, "c"), answer(wire, "on"))
    h.run("go")
    h.tell(h.status == 0 and "needle" in h.results[0]["content"] and "haystack" in h.results[0]["content"], "RQ22 BL02 a NUL")
    h.run("-c", "and?")
    h.tell(h.status == 0, "RQ22 and the next prompt")
    kept = subprocess.run(["claws-session", "cat", h.log()], env=h.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    checked = subprocess.run(["claws-msg", "check"], input=kept.stdout, env=h.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    report(checked.returncode == 0 and b"haystack" in kept.stdout and b"\\u0000" not in kept.stdout, f"RQ22 and nothing is lost of it {wire}", (kept.stdout[-300:], checked.stdout))

def broken(wire):
    w = WORDS[wire]
    begin = head(wire) + w["text"](["one ", "two"])
    if w["args"]: half = w["open"](0, "c1", "Bash") + w["args"](0, '{"command":"touch p"')
    else: half = w["call"](0, "c1", "Bash", '{"command":"touch p"}')
    for name, tail in (("an error", w["error"](w["overloaded"])), ("an end", b"")):
        h = Home(wire, "rt03" + name[-3:])
        def does(x): x.start(kind=w["mime"]); x.say(begin + half + tail)
        h.serve(does, answer(wire, "on"))
        h.run("go")
        h.tell(h.status in (69, 75, 76) and not os.path.exists(h.dir + "/work/p") and not h.results and len(h.sent()) == 1, f"RT03 {name} behind half a call")
        h.run("-c", "and?")
        h.tell(h.status == 0 and len(h.sent()) == 2, f"RT03 {name}, and the next prompt")

all_at_once([(f, wire) for f in (interrupted_tool, interrupted_text, bad_arguments, same_for_ever, ids, odd_text, broken) for wire in WORDS], 6)
END
export T PYTHONPATH="$top/tests/servers" PYTHONDONTWRITEBYTECODE=1
run /usr/bin/python3 rings.py
tab=$(printf '\t')
while IFS="$tab" read -r what name detail; do
	case $what in
	ok) pass "$name" ;;
	'not ok') fail "$name" "$detail" ;;
	esac
done <out
is "$(tail -n 1 out)" 'done' 'all were tried'
is "$(cat err)" '' 'without a mishap of the test itself'
done_testing

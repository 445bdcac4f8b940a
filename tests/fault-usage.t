#!/bin/sh
# What a call cost, out of every provider's way to count: CS01 (cache reads and writes are paid), CS02 (what counts them as input, too,
# is not charged twice), CS04 (turns are added). To a millionth of a dollar.
. "${0%/*}/lib.sh"
cat >cases.py <<'END'
import json, os, subprocess
from wires import *

server = Server()
home = os.environ["HOME"]
os.makedirs(home + "/.config/claws", exist_ok=True)
PRICE = {"input": 3, "output": 15, "cache_read": 0.3, "cache_write": 3.75, "cache_write_1h": 6}
json.dump({"m": {"price": PRICE}}, open(home + "/.config/claws/models.json", "w"))
json.dump([{"name": "p-" + w, "wire": w, "base_url": f"http://127.0.0.1:{server.server_port}/{w}", "key": "optional", "auth": "bearer", "context": 1000000} for w in WORDS],
          open(home + "/.config/claws/providers.json", "w"))
env = dict(os.environ, CLAWS_API_KEY="key-of-the-tests", AWS_BEARER_TOKEN_BEDROCK="key-of-the-tests", CLAWS_BREAKER="off")
def cost(i, r, w, o): return round((3 * i + 0.3 * r + 3.75 * w + 15 * o))      # in millionths

# (name, wires, what the provider says, (input, cache_read, cache_write, output, reasoning) as they are kept)
A3 = ("anthropic", "anthropic-vertex", "bedrock-invoke")
SHAPES = [
    ("CS01 all four", A3, {"input_tokens": 3, "output_tokens": 1, "cache_creation_input_tokens": 10000, "cache_read_input_tokens": 50000}, (3, 50000, 10000, 1, None)),
    ("CS01 by lifetime", A3, {"input_tokens": 3, "output_tokens": 1, "cache_creation_input_tokens": 10000, "cache_read_input_tokens": 50000,
                              "cache_creation": {"ephemeral_5m_input_tokens": 10000, "ephemeral_1h_input_tokens": 0}}, (3, 50000, 10000, 1, None)),
    ("CS01 reads alone", A3, {"input_tokens": 3, "output_tokens": 1, "cache_read_input_tokens": 50000}, (3, 50000, 0, 1, None)),
    ("CS01 null", A3, {"input_tokens": 3, "output_tokens": 1, "cache_creation_input_tokens": None, "cache_read_input_tokens": 50000}, (3, 50000, 0, 1, None)),
    ("CS01 all four", ("bedrock-converse",), {"inputTokens": 3, "outputTokens": 1, "cacheReadInputTokens": 50000, "cacheWriteInputTokens": 10000, "totalTokens": 60004}, (3, 50000, 10000, 1, None)),
    ("CS02 cached is inside", ("openai-chat",), {"prompt_tokens": 1000, "completion_tokens": 10, "total_tokens": 1010, "prompt_tokens_details": {"cached_tokens": 900}}, (100, 900, 0, 10, None)),
    ("CS01 CS02 written is inside", ("openai-chat",), {"prompt_tokens": 1000, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 600, "cache_write_tokens": 300}}, (100, 600, 300, 10, None)),
    ("CS02 DeepSeek", ("openai-chat",), {"prompt_tokens": 1000, "completion_tokens": 10, "prompt_cache_hit_tokens": 900, "prompt_cache_miss_tokens": 100}, (100, 900, 0, 10, None)),
    ("CS02 Together, Moonshot", ("openai-chat",), {"prompt_tokens": 1000, "completion_tokens": 10, "cached_tokens": 900}, (100, 900, 0, 10, None)),
    ("CS02 Grok at Azure: more cached than sent", ("openai-chat",), {"prompt_tokens": 100, "completion_tokens": 10, "prompt_tokens_details": {"cached_tokens": 120}}, (0, 120, 0, 10, None)),
    ("reasoning is inside", ("openai-chat",), {"prompt_tokens": 100, "completion_tokens": 50, "total_tokens": 150, "completion_tokens_details": {"reasoning_tokens": 40}}, (100, 0, 0, 50, 40)),
    ("xAI: reasoning is beside", ("openai-chat",), {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 150, "completion_tokens_details": {"reasoning_tokens": 40}}, (100, 0, 0, 50, 40)),
    ("details null", ("openai-chat",), {"prompt_tokens": 100, "completion_tokens": 10, "prompt_tokens_details": None, "completion_tokens_details": None}, (100, 0, 0, 10, None)),
    ("CS02 cached is inside", ("openai-responses",), {"input_tokens": 1000, "output_tokens": 50, "input_tokens_details": {"cached_tokens": 900}, "output_tokens_details": {"reasoning_tokens": 40}}, (100, 900, 0, 50, 40)),
    ("CS01 CS02 written is inside", ("openai-responses",), {"input_tokens": 1000, "output_tokens": 50, "input_tokens_details": {"cached_tokens": 600, "cache_write_tokens": 300}}, (100, 600, 300, 50, None)),
    ("CS02 cached is inside", ("gemini",), {"promptTokenCount": 1000, "cachedContentTokenCount": 900, "candidatesTokenCount": 10, "totalTokenCount": 1010}, (100, 900, 0, 10, None)),
    ("thoughts are beside", ("gemini",), {"promptTokenCount": 100, "candidatesTokenCount": 10, "thoughtsTokenCount": 40, "totalTokenCount": 150}, (100, 0, 0, 50, 40)),
    ("tools' prompts are beside", ("gemini",), {"promptTokenCount": 1000, "cachedContentTokenCount": 900, "toolUsePromptTokenCount": 20, "candidatesTokenCount": 10}, (120, 900, 0, 10, None)),
    ("two counts", ("ollama-chat",), {"prompt_eval_count": 100, "eval_count": 10}, (100, 0, 0, 10, None)),
    ("tokens", ("cohere",), {"billed_units": {"input_tokens": 7, "output_tokens": 7}, "tokens": {"input_tokens": 100, "output_tokens": 10}}, (100, 0, 0, 10, None)),
    ("CS02 cached is inside", ("cohere",), {"tokens": {"input_tokens": 1000, "output_tokens": 10}, "cached_tokens": 900}, (100, 900, 0, 10, None)),
]
def shape(name, wire, usage, want):
    for form in ([], ["--no-stream"]):
        data = whole(wire, "hi", usage=usage) if form else answer(wire, "hi", usage=usage)
        def does(h, n): h.start(kind="application/json" if form else WORDS[wire]["mime"]); h.say(data)
        key = f"{wire}-{name}{form}".replace(" ", "-").replace(":", "").replace(",", "").replace("[", "").replace("]", "").replace("'", "")
        p = subprocess.run(["claws-stream", "-m", f"p-{wire}/m", "--base-url", server.serve(key, does), *form], input=b'{"role":"user","content":"hello"}\n',
                           stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env)
        lines = [json.loads(l) for l in p.stdout.decode().splitlines()]
        u = next((l["usage"] for l in lines if l.get("type") == "turn_done"), {})
        got = tuple(u.get(k) for k in ("input", "cache_read", "cache_write", "output", "reasoning"))
        money = u.get("cost_usd")
        same = all((a or 0) == (b or 0) for a, b in zip(got, want))
        report(p.returncode == 0 and same and money is not None and round(money * 1e6) == cost(*want[:4]) and
               any(l.get("role") == "assistant" and l["usage"] == u for l in lines), f"{name}: {wire} {' '.join(form)}", (got, want, money, cost(*want[:4]), p.stderr))

def usage_of(wire, i, r, o):
    """i tokens that are not cached, r that are, o of answer, in the provider's words."""
    if wire in A3: return {"input_tokens": i, "cache_read_input_tokens": r, "output_tokens": o}
    if wire == "openai-chat": return {"prompt_tokens": i + r, "completion_tokens": o, "prompt_tokens_details": {"cached_tokens": r}}
    if wire == "openai-responses": return {"input_tokens": i + r, "output_tokens": o, "input_tokens_details": {"cached_tokens": r}}
    if wire == "gemini": return {"promptTokenCount": i + r, "cachedContentTokenCount": r, "candidatesTokenCount": o}
    if wire == "ollama-chat": return {"prompt_eval_count": i, "eval_count": o}
    if wire == "cohere": return {"tokens": {"input_tokens": i + r, "output_tokens": o}, "cached_tokens": r}
    return {"inputTokens": i, "cacheReadInputTokens": r, "outputTokens": o}

def turns(wire):
    """CS04: three turns of one run, 10, 20 and 20 tokens read."""
    reads = [0, 0, 0] if wire == "ollama-chat" else [10, 20, 20]
    answers = [answer(wire, "x", [(f"c{i}", "Bash", '{"command":"true"}')] if i < 2 else [], usage=usage_of(wire, 100, r, 5)) for i, r in enumerate(reads)]
    def does(h, n): h.start(kind=WORDS[wire]["mime"]); h.say(answers[n - 1])
    server.plan[wire] = does
    mine = dict(env, HOME=f"{home}/{wire}", XDG_CONFIG_HOME=home + "/.config")
    os.makedirs(mine["HOME"])
    p = subprocess.run(["claws", "-n", "-p", "--json", "--permission-mode", "accept-all", "-m", f"p-{wire}/m", "go"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=mine, cwd=mine["HOME"])
    done = [json.loads(l) for l in p.stdout.decode().splitlines()][-1]
    u, want = done.get("usage", {}), cost(300, sum(reads), 0, 15)
    report(p.returncode == 0 and (u["input"], u["cache_read"] or 0, u["output"], round(u["cost_usd"] * 1e6)) == (300, sum(reads), 15, want), f"CS04 {wire}: turns are added", (done, p.stderr, want))
    spent = subprocess.run(["claws-quota", "show", "--json"], stdout=subprocess.PIPE, env=mine).stdout.decode().splitlines()
    spent = json.loads(spent[-1]) if spent else {}
    report(spent.get("calls") == 3 and any(round(v * 1e6) == want for v in spent.values() if isinstance(v, float)), f"CS04 {wire}: and claws-quota says the same", (spent, want))

def later_counts():
    """Of several counts in one stream the last holds: they are never added."""
    for wire in WORDS:
        w = WORDS[wire]
        if wire in A3: first = b"".join([head(wire)]) + w["text"](["a"])                   # message_start counts 5, message_delta 3
        else: first = None
        if not first: continue
        data = first + w["end"](w["stops"][0], {"input_tokens": 3, "output_tokens": 7, "cache_read_input_tokens": 2})
        def does(h, n): h.start(kind=w["mime"]); h.say(data)
        p = subprocess.run(["claws-stream", "-m", f"p-{wire}/m", "--base-url", server.serve("last-" + wire, does)], input=b'{"role":"user","content":"hello"}\n', stdout=subprocess.PIPE, env=env)
        u = json.loads(p.stdout.decode().splitlines()[-1])["usage"]
        report((u["input"], u["cache_read"], u["output"]) == (3, 2, 7), f"{wire}: the last count holds", u)

all_at_once([(shape, name, wire, usage, want) for name, ws, usage, want in SHAPES for wire in ws] + [(turns, wire) for wire in WORDS] + [(later_counts,)], 5)
END
export T PYTHONPATH="$top/tests/servers" PYTHONDONTWRITEBYTECODE=1
run /usr/bin/python3 cases.py
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

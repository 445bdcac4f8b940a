#!/bin/sh
# claws-models: search, JSON, the user's files, asking servers, windows.
. "${0%/*}/lib.sh"
unset CLAWS_MODEL CLAWS_BASE_URL CLAWS_API_KEY
conf=$HOME/.config/claws
mkdir -p "$conf"

run claws-models claude-sonnet-4-5
status_is 0 "search"
is "$(grep -c anthropic/claude-sonnet-4-5 out) $(wc -l <out)" "1 2" "finds the one, under a heading"
run claws-models SONNET anthropic 4-5
is "$status $(wc -l <out)" "0 2" "all words, any case"
run claws-models nothing-of-the-kind
is "$status $(wc -c <out)" "1 0" "nothing found is 1"
run claws-models --json
is "$(jq -e . out >/dev/null && echo fine)" fine "--json: an object a line"
is "$(jq -c 'select(.model=="anthropic/claude-sonnet-4-5")|[.provider,.wire,.context,.max_output,.price.input,.price.output,.price.cache_write,.thinking,.input,.key]' out)" \
	'["anthropic","anthropic",200000,64000,3,15,3.75,"budget",["image","pdf"],"unset"]' "what is known of a model"
is "$(jq -c 'select(.model=="deepseek/deepseek-v4-pro").price.input' out)" null "an unknown price is null"
is "$(jq -r .model out | sort | uniq -d)" "" "no model twice"
run env ANTHROPIC_API_KEY=secret-abc claws-models --json claude-opus-4-5
is "$(jq -r .key out)" set "a key that is set"
is "$(grep -c secret-abc out)" 0 "is not shown"
run claws-models --providers
is "$status $(($(wc -l <out) > 60))" "0 1" "--providers"
run claws-models --providers --json hosted_vllm
is "$(jq -c '[.provider,.kind,.base_url,.key]' out)" '["vllm","local","http://127.0.0.1:8000/v1","none needed"]' "found by an alias"
run claws-models --providers --json azure_openai
is "$(jq -c '[.base_url,.needs]' out)" '[null,"AZURE_OPENAI_ENDPOINT"]' "what an address needs"
run claws-models --live --providers
status_is 2 "options that exclude each other"
run claws-models --live
status_is 2 "--live needs a provider"
run claws-models --live nobody
status_is 78 "--live: no such provider"
run claws-models --live openai
status_is 78 "--live: no key"

# ---- the user's files ----
cat >"$conf/providers.json" <<'END'
[{"name": "mine", "kind": "gateway", "title": "My own", "wire": "openai-chat", "base_url": "https://mine.example/v1",
 "key_command": ["printf", "k-123"], "prefixes": ["mine-"]},
 {"name": "groq", "context": 1234}]
END
cat >"$conf/models.json" <<'END'
{"mine-1": {"provider": "mine", "context": 9000, "price": {"input": 1, "output": 2}},
 "gpt-4o": {"price": {"input": 7, "output": 8}}}
END
run claws-models --json mine
is "$(jq -c '[.model,.context,.price.output,.key]' out)" '["mine/mine-1",9000,2,"set"]' "a model and a provider of the user's"
run claws-models --json openai/gpt-4o
is "$(jq -c 'select(.model=="openai/gpt-4o")|[.price.input,.context]' out)" "" "a row without its provider is not listed twice"
run claws-stream --explain -m gpt-4o
is "$(sed -n 's/^price *//p' out | cut -d'(' -f1)" "input \$7, output \$8, cache read unknown, cache write unknown  " "but overrides"
like "$(cat out)" 'models[.]json:2\)' "and --explain names file and line"
run claws-stream --explain -m mine-1
is "$status $(sed -n 's/^key  *//p' out)" "0 key_command printf  (not looked at)" "--explain runs no program"
printf '[\n{"name": "x",\n "colour": 1}]\n' >"$conf/providers.json"
run claws-models
is "$status $(cat err)" "78 claws-models: row x: $conf/providers.json:3: colour: there is no such member" "an unknown member"
printf '[\n{"name": "x",}]\n' >"$conf/providers.json"
run claws-stream --dry-run -m openai/x </dev/null
is "$status $(cut -d: -f1-3 err | head -n 1)" "78 claws-stream: $conf/providers.json:2" "a syntax error, in claws-stream too"
rm "$conf/providers.json" "$conf/models.json"

# ---- a server's own list ----
cat >serve.py <<'END'
import http.server, json, sys
class H(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        open("asked", "a").write("%s %s\n" % (self.path, self.headers.get("authorization")))
        body = {"/v1/models": {"data": [{"id": "small", "max_model_len": 4096}, {"id": "big", "context_length": 65536}]},
                "/api/tags": {"models": [{"name": "qwen3:8b"}, {"name": "phi4:latest"}]}}.get(self.path)
        out = json.dumps(body if body else {"error": "no"}).encode()
        self.send_response(200 if body else 404)
        self.send_header("Content-Length", str(len(out)))
        self.end_headers()
        self.wfile.write(out)
    def log_message(self, *a): pass
s = http.server.HTTPServer(("127.0.0.1", 0), H)
open("port.new", "w").write(str(s.server_port))
import os; os.rename("port.new", "port")
s.serve_forever()
END
if ! command -v python3 >/dev/null 2>&1; then
	skip 10 "python3 is missing"
	done_testing
	exit
fi
python3 serve.py &
python=$!
cleanup() { kill $python; }
wait_for test -s port
base=http://127.0.0.1:$(cat port)
run env CUSTOM_BASE_URL="$base/v1" CUSTOM_API_KEY=k-9876543210 claws-models --live custom
is "$status $(cut -d' ' -f1 out | sed 1d | tr '\n' ' ')" "0 custom/small custom/big " "--live: what the server lists"
is "$(cat asked)" "/v1/models Bearer k-9876543210" "asked with the key"
run env CUSTOM_BASE_URL="$base/v1" claws-stream --explain -m custom/small --max-tokens 9000
is "$(sed -n 's/^max_tokens *//p' out)" "3840  (as many as fit into the window)" "from then on its window is known"
run env OLLAMA_BASE_URL="$base" claws-models --live ollama qwen --json
is "$(jq -r .model out)" "ollama/qwen3:8b" "--live: Ollama's own list, searched"
rm -rf "$HOME/.cache/claws" asked
run env CUSTOM_BASE_URL="$base/v1" claws-models --window custom/big
is "$status $(cat out)" "0 65536" "--window asks"
run env CUSTOM_BASE_URL="$base/v1" CLAWS_MODEL=custom/big claws-models -w
is "$(cat out) $(wc -l <asked)" "65536 1" "once"
run claws-models --window gpt-4o
is "$(cat out)" 128000 "--window of a model that is known"
run env CUSTOM_BASE_URL=http://127.0.0.1:9/v1 claws-models --window custom/x
is "$(cat out)" 128000 "a server that is down: the provider's usual one"
/usr/bin/printf '{"role":"user","content":"%40000s"}\n' x | tr ' ' e >big
run env CUSTOM_BASE_URL="$base/v1" CLAWS_MODEL=custom/small claws-compact <big
like "$(jq -r 'select(.type=="notice").text' out)" 'the window has 4096 \(model\)' "claws-compact goes by it"
done_testing

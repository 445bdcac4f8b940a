#!/bin/sh
# claws-stream on the way to its server: TLS, HTTP/2, certificates, proxies, unix sockets; all of it also through the keeper.
. "${0%/*}/lib.sh"
command -v openssl >/dev/null || skip_all "no openssl to make certificates with"
command -v python3 >/dev/null || skip_all "no python3 to relay with"
export XDG_RUNTIME_DIR="$T"
cleanup() { claws-keeper --stop >/dev/null 2>&1; }
started() { # FIFO-NAME COMMAND ARG...: $said is the first line it prints
	_to=$1; shift
	rm -f "$_to"; mkfifo "$_to"
	"$@" >"$_to" 2>"$_to.err" &
	servers="$servers $!" pid=$! said=
	read -r said <"$_to"
}
certificate() { # NAME SUBJECT-ALT-NAME DAYS
	openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -keyout "$1.key" -out "$1.pem" -days "$3" \
		-subj "/CN=$1" -addext "subjectAltName=$2" 2>/dev/null
}
ask() { # BASE-URL ARG...: $status, err, $answer
	_base=$1; shift
	echo '{"role":"user","content":"hello"}' |
		env ANTHROPIC_BASE_URL="$_base" "$@" claws-stream --no-time --retries 0 >out 2>err
	status=$?
	answer=$(jq -r 'select(.role) | .content' out)
	class=$(jq -r 'select(.type == "error") | .class' out)
}
turns() { # BASE-URL N ENV...: N turns of a ring
	_base=$1 _n=$2; shift 2
	{
		echo '{"role":"user","content":"hello"}'
		_i=0
		while [ $_i -lt "$_n" ]; do echo '{"type":"turn"}'; _i=$((_i + 1)); done
		wait_for sh -c '[ "$(grep -c turn_done out)" -ge '"$_n"' ]'
	} | env CLAWS_RING=1 ANTHROPIC_BASE_URL="$_base" "$@" claws-stream --no-time --retries 0 >out 2>err
}
hello='Hello! How can I help you today?'
fake_llm --log log
plain=http://127.0.0.1:$port
certificate good "DNS:localhost,DNS:api.test,IP:127.0.0.1" 2
certificate other "DNS:other.test" 2

# Through what is said in `via`: directly, or through the keeper.
for via in '' 'CLAWS_CONTROL_PERSIST=20'; do
	how=${via:+keeper: }
	set -- ${via:+"$via"}

	started sock.out "$top/tests/servers/relay.py" unix "$T/llm.sock" "$port"
	url="http+unix://$(printf %s "$T/llm.sock" | sed 's,/,%2F,g')"
	ask "$url" "$@"
	is "$status $answer" "0 $hello" "${how}a unix socket"
	ask "$url/v1" https_proxy=http://127.0.0.1:1 http_proxy=http://127.0.0.1:1 all_proxy=http://127.0.0.1:1 "$@"
	is "$status $answer" "0 $hello" "${how}no proxy on the way to it, and a path"
	like "$(tail -n 1 log | jq -c '[.path, .headers.host, .headers["x-api-key"]]')" '\["/v1/messages","localhost","test-key"\]' \
		"${how}the key goes there, by plain http"
	kill "$pid"
	ask "$url" "$@"
	is "$status $class" "69 connection" "${how}nobody behind the socket"
	like "$(cat out)" "llm.sock" "${how}the socket is named"
	rm -f llm.sock

	started proxy.out "$top/tests/servers/relay.py" proxy '' "$port"
	proxy=$said
	: >proxy.log
	ask "$plain" http_proxy="http://127.0.0.1:$proxy" all_proxy="http://127.0.0.1:$proxy" "$@"
	is "$status $answer $(cat proxy.log)" "0 $hello " "${how}this machine is never asked for by a proxy"
	ask http://api.test:8 http_proxy="http://127.0.0.1:$proxy" "$@"
	is "$status $(cat proxy.log)" "78 " "${how}nor does a key go over plain http to another machine by one"

	command -v node >/dev/null || { skip 14 "no node to serve HTTP/2 with"; continue; }
	: >tls.log
	started tls.out node "$top/tests/servers/tls-front.mjs" "$port" good.pem good.key tls.log
	tls=$said front=$pid
	ask "https://localhost:$tls" "$@"
	is "$status $class" "78 config" "${how}a certificate that nobody vouches for"
	like "$(cat out)" 'cannot be trusted.*CURL_CA_BUNDLE' "${how}the text says what to do"
	ask "https://localhost:$tls" CURL_CA_BUNDLE="$T/good.pem" "$@"
	is "$status $answer" "0 $hello" "${how}CURL_CA_BUNDLE names it"
	ask "https://localhost:$tls" SSL_CERT_FILE=good.pem "$@"
	is "$status $answer" "0 $hello" "${how}SSL_CERT_FILE too, below this directory"
	ask "https://localhost:$tls" CURL_CA_BUNDLE="$T/other.pem" "$@"
	is "$status $class" "78 config" "${how}another authority does not do"
	ask "https://localhost:$tls" CURL_CA_BUNDLE="$T/none.pem" "$@"
	is "$status $class" "78 config" "${how}a file of authorities that is not there"
	like "$(cat out)" 'CURL_CA_BUNDLE' "${how}is told by its variable"
	: >tls.log
	turns "https://localhost:$tls" 3 CURL_CA_BUNDLE="$T/good.pem" "$@"
	is "$(grep -c "$hello" out) $(grep -c request tls.log)" "3 3" "${how}three turns of a ring"
	[ -n "$via" ] || is "$(grep -v request tls.log | tr '\n' ' ')" "h2 " "one connection, HTTP/2"
	[ -z "$via" ] || is "$(grep -v request tls.log | tr '\n' ' ')" "" "keeper: over the connection of the run before"

	started proxy.out "$top/tests/servers/relay.py" proxy '' "$tls"
	proxy=$said
	for scheme in http socks5h; do
		: >proxy.log
		ask https://api.test:8443 https_proxy="$scheme://127.0.0.1:$proxy" CURL_CA_BUNDLE="$T/good.pem" "$@"
		is "$status $answer $(cat proxy.log)" "0 $hello $(case $scheme in http) echo connect ;; *) echo socks ;; esac) api.test:8443" \
			"${how}a proxy: $scheme"
	done
	: >proxy.log
	ask https://localhost:"$tls" https_proxy="http://127.0.0.1:$proxy" CURL_CA_BUNDLE="$T/good.pem" "$@"
	is "$status $answer $(cat proxy.log)" "0 $hello " "${how}https to this machine: no proxy"
	ask https://nobody.invalid https_proxy="http://127.0.0.1:$proxy" no_proxy=nobody.invalid "$@"
	is "$status $class $(cat proxy.log)" "69 connection " "${how}no_proxy"
	started proxy.out "$top/tests/servers/relay.py" proxy me:secret "$tls"
	ask https://api.test:8443 https_proxy="http://127.0.0.1:$said" CURL_CA_BUNDLE="$T/good.pem" "$@"
	is "$status $class" "78 config" "${how}a proxy that wants a password"
	ask https://api.test:8443 https_proxy="http://me:secret@127.0.0.1:$said" CURL_CA_BUNDLE="$T/good.pem" "$@"
	is "$status $answer" "0 $hello" "${how}and gets it"
	kill "$front"
done
done_testing

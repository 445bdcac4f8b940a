# claws.bash - completion for bash. Made by tests/dev/gen-completions: do not edit.
# shellcheck shell=bash
_claws() {
	local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} prog=${COMP_WORDS[0]##*/} first=1
	local words="" verbs="" kind="" choices=""
	if [[ $prog == claws && $COMP_CWORD -gt 1 && " $_claws_commands " == *" ${COMP_WORDS[1]} "* ]]; then
		prog=claws-${COMP_WORDS[1]} first=2
	fi
	case $prog in
	claws)
		words='-p --print -m --model -c --continue -r --resume --session-id --no-session --json --output-format -o --output --partial --thinking --effort --fallback-model --max-tokens --budget --budget-day --max-turns --max-time --permission-mode --tools --allowed-tools --disallowed-tools --on-deny -s --system --append-system-prompt -f --file -i --image -C --directory --add-dir --no-project --no-time --record --replay --live-tools -n --no-stdin --stdin-wait -q --quiet --print-pipeline -h --help --version'
		verbs=''
		case $prev in
		-m|--model) kind="none" ;;
		-r|--resume) kind="none" ;;
		--session-id) kind="none" ;;
		--output-format) choices='text json stream-json' ;;
		-o|--output) kind="file" ;;
		--thinking) kind="none" ;;
		--effort) choices='none low medium high max' ;;
		--fallback-model) kind="none" ;;
		--max-tokens) kind="none" ;;
		--budget) kind="none" ;;
		--budget-day) kind="none" ;;
		--max-turns) kind="none" ;;
		--max-time) kind="none" ;;
		--permission-mode) choices='read-only auto accept-edits accept-all manual plan' ;;
		--tools) kind="none" ;;
		--allowed-tools) kind="none" ;;
		--disallowed-tools) kind="none" ;;
		--on-deny) choices='fail continue' ;;
		-s|--system) kind="none" ;;
		--append-system-prompt) kind="none" ;;
		-f|--file) kind="file" ;;
		-i|--image) kind="file" ;;
		-C|--directory) kind="dir" ;;
		--add-dir) kind="dir" ;;
		--record) kind="dir" ;;
		--replay) kind="dir" ;;
		--stdin-wait) kind="none" ;;
		esac ;;
	claws-agent)
		words='--name -m --model --permission-mode --tools --allowed-tools --disallowed-tools -s --system --max-turns --max-time -C --directory -o --output --json -q --quiet -h --help --version'
		verbs='run'
		case $prev in
		--name) kind="none" ;;
		-m|--model) kind="none" ;;
		--permission-mode) choices='read-only auto accept-edits accept-all manual plan' ;;
		--tools) kind="none" ;;
		--allowed-tools) kind="none" ;;
		--disallowed-tools) kind="none" ;;
		-s|--system) kind="file" ;;
		--max-turns) kind="none" ;;
		--max-time) kind="none" ;;
		-C|--directory) kind="dir" ;;
		-o|--output) kind="file" ;;
		esac ;;
	claws-ask)
		words='-h --help --version'
		verbs=''
		case $prev in
		esac ;;
	claws-compact)
		words='-w --window -c --count -h --help --version'
		verbs=''
		case $prev in
		-w|--window) kind="none" ;;
		esac ;;
	claws-context)
		words='-s --system --append-system-prompt -m --model --mode -C --directory --no-project --bare --no-time -h --help --version'
		verbs=''
		case $prev in
		-s|--system) kind="file" ;;
		--append-system-prompt) kind="none" ;;
		-m|--model) kind="none" ;;
		--mode) kind="none" ;;
		-C|--directory) kind="dir" ;;
		esac ;;
	claws-each-turn)
		words='--stream --tool --compact -h --help --version'
		verbs=''
		case $prev in
		esac ;;
	claws-keeper)
		words='--persist --status --stop -h --help --version'
		verbs=''
		case $prev in
		--persist) kind="none" ;;
		esac ;;
	claws-memory)
		words='-d --description -t --type --scope --origin -n --max -j --json -C --directory --no-time -h --help --version'
		verbs='save search list show delete'
		case $prev in
		-d|--description) kind="none" ;;
		-t|--type) choices='user feedback project reference' ;;
		--scope) choices='user project all' ;;
		--origin) kind="none" ;;
		-n|--max) kind="none" ;;
		-C|--directory) kind="dir" ;;
		esac ;;
	claws-models)
		words='-j --json -p --providers -l --live -w --window --timeout -h --help --version'
		verbs=''
		case $prev in
		--timeout) kind="none" ;;
		esac ;;
	claws-msg)
		words='--strict -n --no-stdin -f --file -i --image --stdin-wait --session -o --output --no-time --timeout -h --help --version'
		verbs='prompt check check-stage norm schema table'
		case $prev in
		-f|--file) kind="file" ;;
		-i|--image) kind="file" ;;
		--stdin-wait) kind="none" ;;
		--session) kind="file" ;;
		-o|--output) kind="file" ;;
		--timeout) kind="none" ;;
		esac ;;
	claws-permit)
		words='-m --mode --permission-mode --tool --allowed-tools --ask-tools --disallowed-tools --add-dir -C --directory --explain --json -h --help --version'
		verbs=''
		case $prev in
		-m|--mode) choices='read-only plan manual auto accept-edits accept-all' ;;
		--permission-mode) choices='read-only plan manual auto accept-edits accept-all' ;;
		--tool) kind="none" ;;
		--allowed-tools) kind="none" ;;
		--ask-tools) kind="none" ;;
		--disallowed-tools) kind="none" ;;
		--add-dir) kind="dir" ;;
		-C|--directory) kind="dir" ;;
		esac ;;
	claws-quota)
		words='-j --json -d --days -s --session -h --help --version'
		verbs='show list check set'
		case $prev in
		-d|--days) kind="none" ;;
		-s|--session) kind="none" ;;
		esac ;;
	claws-render)
		words='--output-format --json -o --output -q --quiet --color --partial --thinking --done-fd -h --help --version'
		verbs=''
		case $prev in
		--output-format) choices='text json stream-json' ;;
		-o|--output) kind="file" ;;
		--color) choices='auto always never' ;;
		--done-fd) kind="none" ;;
		esac ;;
	claws-ring)
		words='--max-time --secret --secret-stage -i --interactive -q --quiet -h --help --version'
		verbs=''
		case $prev in
		--max-time) kind="none" ;;
		--secret) kind="none" ;;
		--secret-stage) kind="none" ;;
		esac ;;
	claws-session)
		words='-j --json -a --all --max-turns --max-time --on-deny --sync -i --interactive --origin --name --id --last --ephemeral --every -q --quiet --replay -h --help --version'
		verbs='append cat inbox list show diff open'
		case $prev in
		--max-turns) kind="none" ;;
		--max-time) kind="none" ;;
		--on-deny) choices='fail continue' ;;
		--sync) choices='turn always never' ;;
		--origin) kind="none" ;;
		--name) kind="none" ;;
		--id) kind="none" ;;
		--replay) kind="dir" ;;
		esac ;;
	claws-stream)
		words='-m --model --provider --wire --base-url --max-tokens --temperature --thinking --effort --timeout --connect-timeout --first-byte-timeout --idle-timeout --retries --fallback-model --budget --budget-day --no-breaker --reset-breaker --no-stream --dry-run --explain --record --replay --match --no-time -h --help --version'
		verbs=''
		case $prev in
		-m|--model) kind="none" ;;
		--provider) kind="none" ;;
		--wire) choices='anthropic openai-chat openai-responses ollama-chat cohere bedrock-converse bedrock-invoke anthropic-vertex gemini bedrock-converse-stream bedrock-invoke-stream' ;;
		--base-url) kind="none" ;;
		--max-tokens) kind="none" ;;
		--temperature) kind="none" ;;
		--thinking) kind="none" ;;
		--effort) choices='none low medium high max' ;;
		--timeout) kind="none" ;;
		--connect-timeout) kind="none" ;;
		--first-byte-timeout) kind="none" ;;
		--idle-timeout) kind="none" ;;
		--retries) kind="none" ;;
		--fallback-model) kind="none" ;;
		--budget) kind="none" ;;
		--budget-day) kind="none" ;;
		--record) kind="dir" ;;
		--replay) kind="dir" ;;
		--match) choices='request order' ;;
		esac ;;
	claws-tool)
		words='--permission-mode --allowed-tools --ask-tools --disallowed-tools --tools --add-dir -C --directory --ask-timeout --no-time --record --replay --list --call --add --remove -h --help --version'
		verbs='add remove list'
		case $prev in
		--permission-mode) choices='read-only plan manual auto accept-edits accept-all' ;;
		--allowed-tools) kind="none" ;;
		--ask-tools) kind="none" ;;
		--disallowed-tools) kind="none" ;;
		--tools) kind="none" ;;
		--add-dir) kind="dir" ;;
		-C|--directory) kind="dir" ;;
		--ask-timeout) kind="none" ;;
		--record) kind="dir" ;;
		--replay) kind="dir" ;;
		--call) kind="none" ;;
		esac ;;
	esac
	[[ $prog != claws ]] || verbs="$verbs $_claws_commands"
	if [[ -n $choices ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$choices" -- "$cur")
	elif [[ $kind == dir ]]; then
		mapfile -t COMPREPLY < <(compgen -d -- "$cur")
	elif [[ $kind == file ]]; then
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
	elif [[ $kind == none ]]; then
		COMPREPLY=()
	elif [[ $cur == -* ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
	elif [[ $COMP_CWORD -eq $first && -n $verbs ]]; then
		mapfile -t COMPREPLY < <(compgen -W "$verbs" -- "$cur")
	else
		mapfile -t COMPREPLY < <(compgen -f -- "$cur")
	fi
}
_claws_commands='agent ask compact context each-turn keeper memory models msg permit quota render ring session stream tool'
complete -o filenames -F _claws claws claws-agent claws-ask claws-compact claws-context claws-each-turn claws-keeper claws-memory claws-models claws-msg claws-permit claws-quota claws-render claws-ring claws-session claws-stream claws-tool

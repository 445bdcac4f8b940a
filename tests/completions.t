#!/bin/sh
# Completions: as the option tables have them, and each shell takes them.
. "${0%/*}/lib.sh"
run "$top/tests/dev/gen-completions" --check
is "$status$(cat out err)" 0 'completions/ is what tests/dev/gen-completions writes'

offers() { # WORD...: what bash offers for the last word
	bash --norc -c '
		. "$1"; shift
		COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
		_claws "$1" && printf "%s\n" "${COMPREPLY[@]}"' bash "$top/completions/claws.bash" "$@" | sort | tr '\n' ' '
}
if command -v bash >/dev/null; then
	like "$(offers claws-stream --re)" '--record --replay' 'bash: options by their beginning'
	is "$(offers claws-stream --match '')" 'order request ' 'bash: the values of an option'
	like "$(offers claws stream --dry)" '--dry-run' 'bash: claws stream is claws-stream'
	like "$(offers claws-session '')" 'append .*list' 'bash: verbs'
	like "$(offers claws ses)" 'session' 'bash: commands of claws'
	touch a-file; mkdir a-dir
	is "$(offers claws-stream --record a-)" 'a-dir ' 'bash: directories only where one is wanted'
	run bash --norc -c '. "$1"; complete -p claws claws-tool claws-stream' bash "$top/completions/claws.bash"
	status_is 0 'bash: each program has it'
else
	skip 7 'bash is not installed'
fi
if command -v zsh >/dev/null; then
	ok 'zsh: the file is well formed' zsh -n "$top/completions/_claws"
	# _arguments is replaced by one that prints what it is given.
	cat >z <<-'END'
	fpath=($1); autoload -Uz _claws
	_arguments() { print -rl -- "$@" }
	_describe() { print -r -- "${(P@)2}" }
	_files() { : }
	service=$2; words=("${(@)@[2,-1]}"); CURRENT=$#words
	_claws
	END
	like "$(zsh -f z "$top/completions" claws-stream '')" '^\(-m --model\)-m\[.*\]:PROVIDER/MODEL' 'zsh: an option with its value'
	like "$(zsh -f z "$top/completions" claws-stream '')" '^--match\[.*\]:.*:\(request order\)$' 'zsh: the values of an option'
	like "$(zsh -f z "$top/completions" claws stream '')" '^--dry-run\[' 'zsh: claws stream is claws-stream'
else
	skip 4 'zsh is not installed'
fi
if command -v fish >/dev/null; then
	fish_offers() { fish --no-config -c "source $top/completions/claws.fish; complete -C '$1'" 2>&1; }
	ok 'fish: the file is well formed' fish -n "$top/completions/claws.fish"
	like "$(fish_offers 'claws-stream --ma')" '^--match' 'fish: options by their beginning'
	is "$(fish_offers 'claws-stream --match ' | cut -f1 | sort | tr '\n' ' ')" 'order request ' 'fish: the values of an option'
	like "$(fish_offers 'claws stream --dry')" '^--dry-run' 'fish: claws stream is claws-stream'
	like "$(fish_offers 'claws-session ap')" '^append' 'fish: verbs'
else
	skip 5 'fish is not installed'
fi
done_testing

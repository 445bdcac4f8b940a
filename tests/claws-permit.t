#!/bin/sh
# The gate's decisions, as a table. faults.md: PE02 PE03 PE04 PE05 PE07 PE11.
. "${0%/*}/lib.sh"
mkdir w w/.git w/src && cd w || exit 1

# says WANT COMMAND [OPTION...]
says() {
	want=$1 cmd=$2
	shift 2
	got=$(claws-permit "$@" "$cmd" 2>"$T/err")
	st=$?
	case $want in allow) wst=0 ;; ask) wst=1 ;; deny) wst=3 ;; esac
	is "$got $st" "$want $wst" "$want: $* $(printf %s "$cmd" | tr '\n' '~')"
}
# for_tool WANT TOOL INPUT [OPTION...]
for_tool() {
	want=$1 tool=$2 input=$3
	shift 3
	got=$(printf '%s\n' "$input" | claws-permit --tool "$tool" "$@" 2>"$T/err")
	is "$got" "$want" "$want: $* $tool $input $(cat "$T/err")"
}

# What only shows something.
for c in pwd ls 'ls -l' 'ls  -la' date whoami id 'uname -a' true false; do says allow "$c"; done
for c in pwd 'uname -a'; do says allow "$c" --mode read-only; says allow "$c" --mode plan; says ask "$c" --mode manual; done

# Each line of the list passes as it stands; none writes a file or shows one.
grep -v '^#' "$top/share/claws/harmless" >"$T/list"
is "$(while read -r c; do
	command -v "${c%% *}" >/dev/null || continue
	[ "$(claws-permit "$c") $(claws-permit --mode read-only "$c")" = 'allow allow' ] || echo "$c"
done <"$T/list")" '' 'the whole list of harmless commands passes'
is "$(sort "$T/list" | uniq -d)" '' 'no line is there twice'
mkdir -p "$T/quiet" && cd "$T/quiet" && echo secret >f
is "$(while read -r c; do
	command -v "${c%% *}" >/dev/null || continue
	shown=$(sh -c "$c" </dev/null 2>&1) && case $shown in *secret*) echo "$c shows the file" ;; esac
done <"$T/list"; ls)" 'f' 'none of them writes a file or shows what is in one'
cd "$T/w" || exit 1

# What is not one harmless command of plain words.
for c in 'ls -R' 'ls /' 'ls *' 'ls ~' 'ls $HOME' 'ls; rm x' 'ls && rm x' 'ls | sh' 'ls & rm x' 'ls > f' 'ls < f' "ls 'x'" '"ls"' \
	'ls "$(rm x)"' 'ls `rm x`' 'l\s' 'FOO=1 ls' 'PATH=. ls' 'LD_PRELOAD=./x.so ls' './ls' '/bin/ls' 'ls #' '(ls)' '{ ls; }' '! ls' \
	'ls
rm x' 'git status' 'git diff' 'git log' 'find .' 'env' 'env ls' 'cat f' 'echo x' 'date -s 0' 'date -f /etc/shadow' 'hostname x' \
	'claws -p hi' 'claws-tool --call Bash' 'sudo ls' 'time ls' 'command ls' 'xargs ls' 'sh -c ls' 'eval ls' 'exec ls' '' 'printenv' \
	'python3 -c 1' 'curl http://x' 'nosuchprogram'; do
	case $c in '') continue ;; esac
	says ask "$c"
	says ask "$c" --mode accept-edits
	says deny "$c" --mode read-only
	says deny "$c" --mode plan
	says allow "$c" --mode accept-all
done

# PE02: each member of a chain counts. Exact rules let none of them pass.
says ask 'rm -rf ./x && ln -s a b && ls' --allowed-tools 'Bash(ls) Bash(cat) Bash(cd) Bash(ln)'
says ask 'ls && rm -rf ./x' --allowed-tools 'Bash(ls)'
says ask 'ls; rm -rf ./x' --allowed-tools 'Bash(ls)'
# PE03: substitutions and groups
for c in 'echo $(touch p)' 'echo `touch p`' 'echo <(touch p)' 'echo "$(touch p)"' '(touch p)' '{ touch p; }' 'cat <<X
$(touch p)
X'; do
	says ask "$c" --allowed-tools 'Bash(echo)'
done
# PE04: wrappers
for c in "env sh -c 'touch p'" 'FOO=1 touch p' 'xargs -a f touch' 'timeout 5 touch p' 'nice touch p' 'sudo touch p' \
	'direnv exec . touch p' "sh -c 'touch p'"; do
	says ask "$c" --allowed-tools 'Bash(env), Bash(xargs), Bash(timeout), Bash(nice), Bash(sudo), Bash(sh -c)'
done
# PE05: assignments
for c in 'GIT_EXTERNAL_DIFF=./evil git diff' 'LD_PRELOAD=./x.so ls' 'PAGER=./evil git log'; do
	says ask "$c" --allowed-tools 'Bash(git diff), Bash(git log), Bash(ls)'
done
# PE07: commands with modes that write or execute
for c in 'sed -i s/a/b/ f' "sed -n 'w out' f" "sed '1e touch p' f" 'find . -exec touch p ;' 'find . -delete' 'sort -o f' \
	"awk 'BEGIN{system(\"touch p\")}'"; do
	says ask "$c" --allowed-tools 'Bash(sed), Bash(find), Bash(find .), Bash(sort), Bash(awk)'
done
# PE11: a denied file does not block unrelated commands.
says allow 'grep -r foo .' --allowed-tools 'Bash(grep -r foo .)' --disallowed-tools 'Read(./.env)'
says allow 'npm run build' --allowed-tools 'Bash(npm run build)' --disallowed-tools 'Read(build/**)'
says allow 'ls -la' --disallowed-tools 'Read(.env)'

# Rules.
says allow 'make test' --allowed-tools 'Bash(make test)'
says allow '  make test ' --allowed-tools 'Bash(make test)'
says ask 'make  test' --allowed-tools 'Bash(make test)'
says ask 'make test x' --allowed-tools 'Bash(make test)'
says allow 'rm x' --allowed-tools Bash
says allow 'rm x' --allowed-tools 'Read,Bash Edit'
says allow 'rm x' --allowed-tools Read --allowed-tools Bash
says deny 'rm x' --allowed-tools Bash --disallowed-tools Bash
says deny pwd --disallowed-tools 'Bash(pwd)'
says deny pwd --mode accept-all --disallowed-tools 'Bash(pwd)'
says ask pwd --ask-tools 'Bash(pwd)' --allowed-tools Bash
says ask 'rm x' --mode accept-all --ask-tools Bash
says deny 'rm x' --ask-tools Bash --disallowed-tools Bash
says allow 'make test' --mode manual --allowed-tools 'Bash(make test)'
says deny 'make test' --mode plan --allowed-tools 'Bash(make test)'
says allow 'echo ")"' --allowed-tools 'Bash(echo ")")'
says allow '(cd a; make)' --allowed-tools 'Bash((cd a; make))'
says ask 'rm -rf x' --allowed-tools 'Bash(true) Bash(ls)'
CLAWS_ALLOWED_TOOLS='Bash(make test)' && export CLAWS_ALLOWED_TOOLS
says allow 'make test'
says allow 'rm x' --allowed-tools 'Bash(rm x)'
unset CLAWS_ALLOWED_TOOLS
CLAWS_PERMISSION_MODE=accept-all && export CLAWS_PERMISSION_MODE
says allow 'rm x'
says ask 'rm x' --mode auto
unset CLAWS_PERMISSION_MODE
for r in '(x)' 'Bash(' 'Bash(x' 'Bash()' 'Ba$h' 'Bash(x)y' '*' 'WebFetch(x)'; do
	run claws-permit --allowed-tools "$r" pwd
	is "$status $(wc -l <out)" "2 0" "not a rule: $r"
done
for r in 'Bash(git *)' 'Bash(git:*)' 'Bash(*)' 'Bash(git*)' 'Read, Bash(npm run test:*)'; do
	run claws-permit --allowed-tools "$r" pwd
	is "$status $(wc -l <out)" "2 0" "an allow rule with a pattern would allow nothing: refused: $r"
	like "$(cat err)" "allow rule 'Bash\(.*\*\)': .*one exact command line.*Bash\(make test\)" "and says what to write"
done
# A star that belongs to a command line.
says allow 'ls *.c' --allowed-tools 'Bash(ls *.c)'
is "$(cat "$T/err")" "" "and not a word about it"
says ask 'ls xy' --allowed-tools 'Bash(ls x*)'
like "$(cat "$T/err")" 'Bash\(ls x\*\) is for exactly that command line' "a star at the end is doubted"
run claws-permit --json 'rm *'
is "$(jq -r '.decision+" "+(.would_allow|tostring)' out)" "ask null" "no rule is offered that would be refused"

# A rule for a tool that is not there: it may come later, so it is said and no more.
run claws-permit --allowed-tools 'Foo' --disallowed-tools 'bash, Foo' pwd
is "$status $(cat out)" "0 allow" "a rule for an unknown tool is no error"
is "$(cat err)" "claws-permit: the rule bash: there is no tool 'bash'; near it: Bash
claws-permit: the rule Foo: there is no tool 'Foo'" "it is named once, with what is near it"
run claws-permit --allowed-tools 'Read, Bash(x)' pwd
is "$status $(cat out err)" "0 allow" "and for one that is there nothing is said"

# Where a wrong value comes from: an option is wrong usage, the environment is configuration.
wrong() { # STATUS ERE NAME CMD...
	want=$1 ere=$2 name=$3
	shift 3
	run "$@"
	is "$status $(cat out)" "$want " "status $want: $name"
	like "$(cat err)" "$ere" "and the text says where: $name"
}
wrong 78 '^claws-permit: CLAWS_PERMISSION_MODE: no permission mode .yolo.' 'mode of the environment' env CLAWS_PERMISSION_MODE=yolo claws-permit pwd
wrong 2 '--mode' 'mode of the option' claws-permit --mode yolo pwd
for v in CLAWS_ALLOWED_TOOLS CLAWS_ASK_TOOLS CLAWS_DISALLOWED_TOOLS; do
	wrong 78 "^claws-permit: $v: .*not closed" "$v" env "$v=Bash(" claws-permit pwd
done
wrong 78 '^claws-permit: CLAWS_ADD_DIR: the directory /nowhere: No such' 'a directory of the environment' env CLAWS_ADD_DIR=/nowhere claws-permit pwd
wrong 66 '^claws-permit: --add-dir /nowhere: No such' 'a directory that is not there' claws-permit --add-dir /nowhere pwd
wrong 2 '^claws-permit: --add-dir /dev/null: not a directory' 'a directory that is none' claws-permit --add-dir /dev/null pwd

run claws-permit --disallowed-tools 'Bash(rm *)' pwd
status_is 2 "a deny rule with a pattern would protect nothing: refused"
like "$(cat err)" "use 'Bash' for every command" "and says what to write"

# In every mode.
for c in 'rm -rf /' 'rm -fr /*' 'rm -r -f -- /' 'sudo rm -rf /' 'cd x; rm -rf ~' 'rm -rf $HOME/' "sh -c 'rm -rf /'" 'rm --recursive /etc' \
	'echo $(rm -rf /)' 'mkfs.ext4 /dev/sda1' 'dd if=x of=/dev/nvme0n1' 'cat x > /dev/sda' 'cat x >/dev/sda' 'chmod -R 777 /' \
	'chown -R x /' ':(){ :|:& };:' ':(){:|:&};:' 'env A=1 rm -rf /' 'true && rm -rf //' '/bin/rm -rf /.' 'rm -rf /usr'; do
	says deny "$c" --mode accept-all --allowed-tools Bash
done
for c in 'rm -rf ./x' 'rm -rf /tmp/x' 'rm /x' 'echo rm -rf /' 'dd if=/dev/sda of=x' 'ls /' 'chmod 755 /x' 'cat x > /dev/null' "echo 'rm -rf /'" \
	'git commit -m "no rm -rf /"'; do
	says allow "$c" --mode accept-all
done

# A program that the workspace brings along is not harmless.
mkdir bin && printf '#!/bin/sh\n' >bin/whoami && chmod +x bin/whoami
PATH=$PWD/bin:$PATH says ask whoami
PATH=$PWD/bin:$PATH says allow pwd
PATH=.:bin::$PATH says allow whoami
ln -s "$PWD/bin" "$T/elsewhere"
PATH=$T/elsewhere:$PATH says ask whoami

# Inside a tool of another claws.
CLAWS_PARENT_MODE=auto CLAWS_DEPTH=1 && export CLAWS_PARENT_MODE CLAWS_DEPTH
says ask 'rm x' --mode accept-all
says ask 'rm x' --allowed-tools Bash
CLAWS_PARENT_ALLOWED='Bash(make test)' says allow 'make test' --allowed-tools 'Bash(make test)'
CLAWS_PARENT_ALLOWED='Bash' says allow 'make test' --allowed-tools 'Bash(make test)'
CLAWS_PARENT_ALLOWED='Bash(make test)' says ask 'rm x' --allowed-tools Bash
CLAWS_PARENT_DENIED='Bash(pwd)' says deny pwd
CLAWS_PARENT_MODE=nonsense says deny 'rm x' --mode accept-all
CLAWS_DEPTH=5 run claws-permit pwd
status_is 4 "five deep is the limit"
unset CLAWS_PARENT_MODE CLAWS_DEPTH

# Words.
run claws-permit --explain 'make test'
like "$(cat out)" '^ask by mode auto: .*allowed by the rule Bash\(make test\)$' "--explain"
run claws-permit --explain --allowed-tools 'Bash(make test)' 'make test'
is "$(cat out)" 'allow by rule Bash(make test): the rule Bash(make test) allows it' "--explain names the rule"
run claws-permit --explain "$(printf 'x\033[2J\nallow')"
is "$(wc -l <out) $(grep -c "$(printf '\033')" out)" "1 0" "one line, no escape sequences, whatever the command holds"
run claws-permit --json 'make test'
is "$(jq -r '.decision + " " + .by + " " + .would_allow' out)" 'ask mode Bash(make test)' "--json"
run claws-permit --explain 'true) Bash(rm -rf x'
unlike "$(cat out)" 'allowed by the rule' "no rule is offered that would read as two"
run claws-permit
status_is 2 "no command"
run claws-permit --mode nope pwd
status_is 2 "no such mode"
run claws-permit --tool Nope </dev/null
status_is 2 "no such tool"
printf '{"command":"pwd","command":"rm x"}' | claws-permit --tool Bash >out 2>err
is "$?" 65 "a key twice"
printf '[]' | claws-permit --tool Bash >out 2>err
is "$?" 65 "no object"
printf '{"cmd":"x"}' | claws-permit --tool Bash >out 2>err
is "$?" 65 "arguments that do not fit"
unset CLAWS_DEPTH

# Files.
if [ -e "$BUILD/share/claws/tools/Write.json" ]; then
	echo x >f
	W='{"content":"x","file_path":"%s"}'
	w() { printf "$W" "$1"; }
	r() { printf '{"file_path":"%s"}' "$1"; }
	for m in read-only plan auto accept-edits accept-all; do for_tool allow Read "$(r f)" --mode $m; done
	for_tool ask Read "$(r f)" --mode manual
	for_tool ask Read "$(r /etc/hostname)"
	for_tool ask Read "$(r ../x)"
	for_tool allow Read "$(r /etc/hostname)" --mode accept-all
	for_tool allow Read "$(r /etc/hostname)" --allowed-tools 'Read(/etc/**)'
	for_tool allow Read "$(r ../x)" --add-dir ..
	for_tool ask Write "$(w f)"
	for_tool ask Write "$(w f)" --mode manual
	for_tool deny Write "$(w f)" --mode plan
	for_tool deny Write "$(w f)" --mode read-only --allowed-tools Write
	for_tool allow Write "$(w f)" --mode accept-edits
	for_tool allow Write "$(w src/new/x)" --mode accept-edits
	for_tool ask Write "$(w ../x)" --mode accept-edits
	for_tool ask Write "$(w .git/hooks/pre-commit)" --mode accept-edits
	for_tool ask Write "$(w .git/hooks/pre-commit)" --allowed-tools Write
	for_tool ask Write "$(w .git/hooks/pre-commit)" --allowed-tools 'Write(**)'
	for_tool allow Write "$(w .git/hooks/pre-commit)" --allowed-tools 'Write(.git/hooks/pre-commit)'
	for_tool allow Write "$(w .git/hooks/pre-commit)" --mode accept-all
	for_tool deny Read "$(r ~/.ssh/id_rsa)" --mode accept-all --allowed-tools Read
	for_tool deny Read "$(r /proc/self/environ)" --mode accept-all --allowed-tools Read
	for_tool deny Write "$(w ~/.aws/credentials)" --mode accept-all
	ln -s /etc etc
	for_tool ask Read "$(r etc/hostname)"
	for_tool ask Read "$(r etc/hostname)" --allowed-tools 'Read(./etc/**)'
	for_tool deny Read "$(r etc/../etc/hostname)" --mode accept-all --disallowed-tools 'Read(/etc/**)'
	for_tool deny Read "$(r etc/hostname)" --mode accept-all --disallowed-tools 'Read(etc/*)'
	for_tool deny Read "$(r ./src/../.env)" --disallowed-tools 'Read(./.env)'
	for_tool deny Read "$(r src/.env)" --disallowed-tools 'Read(.env)'
	for_tool allow Read "$(r src/.env)" --disallowed-tools 'Read(./.env)'
	for_tool deny Read "$(r src/a/b)" --disallowed-tools 'Read(src)'
	for_tool deny Edit '{"file_path":"src/x","old_string":"a","new_string":"b"}' --mode accept-all --disallowed-tools 'Write(src/**)'
	for_tool deny Grep '{"pattern":"x","path":"src"}' --disallowed-tools 'Read(src)'
	for_tool allow Grep '{"pattern":"x","path":"."}' --disallowed-tools 'Read(./.env)'
	for_tool allow Write "$(w src/a.c)" --allowed-tools 'Write(src/*.c)'
	for_tool ask Write "$(w src/d/a.c)" --allowed-tools 'Write(src/*.c)'
	for_tool allow Write "$(w src/d/a.c)" --allowed-tools 'Write(src/**/*.c)'
	for_tool allow Write "$(w src/a.c)" --allowed-tools 'Write(src/**/*.c)'
	for_tool allow Write "$(w src/d/a.c)" --allowed-tools 'Write(*.c)'
	for_tool ask Write "$(w ../a.c)" --allowed-tools 'Write(*.c)'
	for_tool allow Glob '{"pattern":"**/*.c"}'
	for_tool ask Glob '{"pattern":"../*"}'
	for_tool ask Glob '{"pattern":"/etc/*"}'
	for_tool ask Glob '{"pattern":"*","path":"/etc"}'
else
	skip 1 "the file tools are not there"
fi
done_testing

#!/bin/sh
# claws-memory: notes in files that a person can mend; what came from outside stays in its place (threat 19).
# shellcheck disable=SC2016
. "${0%/*}/lib.sh"

memory() { run claws-memory "$@"; }
data=$HOME/.local/share/claws/memory
mkdir -p p/.git p/sub q/.git && cd p/sub || exit 1

# --- the verbs ---
memory list
is "$status $(cat out)" '0 ' 'an empty list prints nothing'
memory search x
is "$status $(cat out)" '1 ' 'nothing found is status 1'
memory show x
is "$status $(cat err)" "66 claws-memory: no memory named 'x'; 'claws-memory list' shows all" 'show of an unknown one'
memory delete x
status_is 66 'delete of an unknown one'
memory save 'Build Notes' -t reference -d 'how it is built' 'make, then' 'make check'
is "$status $(cat out err)" '0 ' 'save says nothing'
printf '# Style\n\nTabs, never spaces.\n\n' | claws-memory save style
memory show style
is "$(cat out)" '# Style

Tabs, never spaces.' 'from stdin, and shown as it was'
memory show 'build notes' BUILD_NOTES
is "$(cat out)" 'make, then make check
make, then make check' 'found by name and by slug'
memory list
is "$(cat out)" 'Build Notes (user, reference): how it is built
style (user, user): Style' 'the list; the first line stands in for a description'
memory list --json
is "$(jq -c '[.id,.name,.type,.scope,.origin]' out | tr '\n' ' ')" '["build_notes","Build Notes","reference","user","user"] ["style","style","user","user","user"] ' 'as JSON'
is "$(jq -r .created out | uniq)" "$(date +%Y-%m-%d)" 'dated'
memory show --json style
is "$(jq -r '.content' out | tail -n 1)" 'Tabs, never spaces.' 'show --json has the text'
memory save style 'Two blanks.'
memory show style
is "$(cat out)" 'Two blanks.' 'the same name replaces'
is "$(claws-memory list | wc -l)" 2 'and adds nothing'

# --- files ---
is "$(find "$data" -type f -name '*.md' | sed 's|.*/||' | LC_ALL=C sort | tr '\n' ' ')" 'MEMORY.md build_notes.md style.md ' 'one file each, and the index'
is "$(find "$data" -type d -perm 700 | wc -l) $(find "$data" -name '*.md' -perm 600 | wc -l)" '1 3' 'for the owner only'
is "$(cat "$data/MEMORY.md")" '# Memories of the user

- [Build Notes](build_notes.md) (reference): how it is built
- [style](style.md) (user): Two blanks.' 'the index'
CLAWS_NO_TIME=1 claws-memory save plain -d 'a: b # "c"' text
is "$(cat "$data/plain.md")" '---
name: plain
description: "a: b # \"c\""
type: user
---

text' 'frontmatter that YAML reads alike; no dates without time'
printf -- '---\nname: '"'It''s mine'"'\ndescription:   by hand  \r\nother: kept out\n---\nbody\n' >"$data/by-hand.md"
memory list
like "$(cat out)" "^It's mine \\(user\\): by hand\$" 'a file made by hand'
printf 'only text\n' >"$data/bare.md"; printf -- '---\nname: x\n' >"$data/broken.md"; printf 'no\n' >"$data/Not A Slug.md"; printf 'a\0b' >"$data/nul.md"
memory list
like "$(cat out)" '^bare \(user\)$' 'one without frontmatter'
unlike "$(cat out)" 'Not A Slug|broken|nul|MEMORY' 'what is none is left out'
memory show broken
is "$status" 65 'asked for by name it is an error'
rm "$data/Not A Slug.md" "$data"/by-hand.md "$data"/bare.md "$data"/broken.md "$data"/nul.md
memory delete plain style
is "$status $(claws-memory list | wc -l) $(grep -c style "$data/MEMORY.md")" '0 1 0' 'delete, from the index too'

# --- names ---
for name in '../../evil' '/etc/x' 'a/b' '.hidden' '-dash' 'memory' 'MEMORY' 'Größe' '日本' 'C' 'C++' "$(printf %0150d 1)"; do
	memory save -- "$name" "text of $name"
	memory show -- "$name"
	is "$(cat out)" "text of $name" "name: $(printf %.20s "$name")"
done
is "$(find "$T" -newer "$data/build_notes.md" -name '*.md' ! -path "$data/*" | wc -l)" 0 'no name becomes a path'
is "$(find "$data" -name '*.md' | sed 's|.*/||' | grep -vc '^[a-z0-9_][a-z0-9_-]*\.md$')" 1 'file names are slugs (but for the index)'
slug=$(claws-memory list --json | jq -r 'select(.name=="Größe").id')
memory show "$slug"
is "$(cat out)" 'text of Größe' 'an id is a name too'
memory save "$(printf %0201d 1)" x
status_is 65 'a name too long'
memory save "$(printf 'two\nlines')" x; memory list
like "$(cat out)" '^two lines \(user' 'a name is one line'
rm -r "$data"

# --- search ---
claws-memory save alpha -d 'about trees' 'oak and elm, OAK again'
claws-memory save 'oak notes' -d x 'y'
claws-memory save gamma -d z 'ÄPFEL und Öl'
memory search OAK
is "$(cut -d' ' -f1 out | tr '\n' ' ')" 'oak alpha ' 'a name weighs more than a text, case does not matter'
memory search elm oak
is "$(cut -d' ' -f1 out | tr '\n' ' ')" 'alpha oak ' 'more of the words weigh most'
memory search äpfel
is "$(cut -d' ' -f1 out)" gamma 'umlauts have case'
memory search -n 1 oak --json
is "$(jq -r .id out)" oak_notes 'at most N'

# --- scopes, threat 19 ---
memory save here --scope project 'of p'
is "$(claws-memory list --scope project | cut -d' ' -f1)" here 'the project scope'
is "$(cd .. && claws-memory show here) $(claws-memory -C ../../q show here 2>&1 | grep -c 'no memory')" 'of p 1' 'holds in all of the project, and only there'
is "$(find "$T/p" -type f | grep -vE '/(out|err|in)$')" '' 'nothing is written into the project'
memory save page --origin web 'from a page'
is "$(claws-memory show --json page | jq -c '[.scope,.origin]')" '["project","web"]' 'threat 19: what came from outside is kept for the project, and marked'
like "$(claws-memory list)" '^page \(project, project, from web\)' 'threat 19: in the list'
like "$(cat "$data"/projects/*/MEMORY.md)" '\[from web\]' 'threat 19: in the index'
memory save page2 --origin mcp:x --scope user 'from outside'
like "$status $(cat err)" "^3 .*what comes from 'mcp:x' is kept for the project only" 'threat 19: not for the user'
memory save here --origin web 'replaced'
like "$status $(cat err) $(claws-memory show here)" "^3 .*the user's own.* of p\$" "threat 19: the user's own word is not replaced"
memory save page --origin file 'newer'
is "$(claws-memory show page)" newer 'threat 19: its own is'
memory save page --scope project 'the user says'
is "$(claws-memory show --json page | jq -r .origin)" user 'the user may replace it'
# A stranger does not stand in the user's place under a name of both scopes either.
memory save mine 'the word of the user'
memory save mine --origin web 'evil'
like "$status $(cat err)" "^3 .*'mine' is the user's own" "threat 19: a name that the user has is not taken in the project"
memory save late --origin web 'evil words'
memory show late
is "$(cat out err)" "evil words
claws-memory: 'late' is from web, not from the user" "threat 19: show says whose words these are"
memory save late 'good words'
memory show late
is "$(cat out err)" "good words
claws-memory: 'late' is the user's; another of that name is from web: --scope project shows it" "threat 19: show takes the user's, and says so"
is "$(claws-memory show --json late | jq -r .origin)" user "threat 19: as JSON too"
memory show --scope project late
is "$(cat out)" 'evil words' 'the other one when asked for'
is "$(claws-memory search words | head -n 2 | cut -d: -f1 | tr '\n' ,)" 'late (user, user),late (project, project, from web),' \
	"threat 19: search has both, the user's first, the other marked"
is "$(claws-context | jq -r .content | grep '^- late' | tr '\n' ,)" '- late (user): good words,- late (project) [from web]: evil words,' \
	'threat 19: so has the system prompt'
memory delete late
like "$status $(cat err)" '^2 .*say --scope user, project or all' 'delete: of two of one name none is deleted'
memory delete --scope all late
is "$status $(claws-memory list | grep -c late)" '0 0' 'delete --scope all: both'
memory delete --scope all late
status_is 66 'delete --scope all: there is none'
memory save here 'of the user'
memory show here
is "$(cat out)" 'of p' "the project's comes first"
memory show --scope user here
is "$(cat out)" 'of the user' 'unless asked'
memory delete here
is "$status $(claws-memory list | grep -c here)" '2 2' 'of two of one name none is deleted'
memory delete here --scope user
is "$status $(claws-memory list | grep -c here)" '0 1' 'but the one that was named'

# --- limits, damage, many at once ---
memory save empty '  '
status_is 65 'an empty text is none'
head -c 70000 /dev/zero | tr '\0' x >big; run claws-memory save text <big
status_is 65 'a text too long'
printf 'a\0b' >nul; run claws-memory save text <nul
status_is 65 'a text with NUL'
printf 'a\377b' >bad; run claws-memory save text <bad
is "$status $(claws-memory show text)" '0 a�b' 'bad UTF-8 is mended'
i=0; while [ $i -lt 12 ]; do claws-memory save "par$i" "x" & i=$((i + 1)); done; wait
is "$(claws-memory list | grep -c '^par') $(grep -c par "$data/MEMORY.md")" '12 12' 'twelve at once: all there, all in the index'
is "$(find "$data" -name '*.tmp')" '' 'and nothing left over'
memory list >/dev/null; claws-memory list >/dev/full 2>err; is $? 74 'a full disk is an error'

# --- usage ---
for args in '' 'frob' 'save' 'search' 'show' 'delete' 'list x' 'save x y --scope all' 'save x y --type odd' 'search -n 0 x'; do
	# shellcheck disable=SC2086
	memory $args
	status_is 2 "wrong usage: claws-memory $args"
done
memory -C /nonexistent list
status_is 66 '-C to nowhere'
done_testing

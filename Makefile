# claws: build. `make try` shows it, `make check` tests it, `make install` installs it; the README says more.
#
#   make [all]        programs in $(BUILD)/bin           make install     PREFIX, DESTDIR, BINDIR, DATADIR, MANDIR
#   make check        the tests                          make asan check  the same under ASan and UBSan, in build/asan
#   make lint         what the compilers, shellcheck, mandoc and the house rules have to say
#   make bench        speed and size against curl        make fuzz        20 s of libFuzzer on each target
#   make uninstall    takes away what install brought    make clean       removes $(BUILD)
#
# Yours to set: CC, CFLAGS, CPPFLAGS, LDFLAGS, BUILD; SAN=1 for a sanitizer build; DEPS=no to look for no packages, YES=1 to
# install missing ones without asking.
BUILD ?= build
ifneq (,$(filter asan,$(MAKECMDGOALS)))
SAN := 1
override BUILD := $(BUILD)/asan
endif
PREFIX  ?= /usr/local
BINDIR  ?= $(PREFIX)/bin
DATADIR ?= $(PREFIX)/share
MANDIR  ?= $(DATADIR)/man
INSTALL ?= install
CFLAGS  ?= -O2 -g
CPPFLAGS ?=
DEPS ?= ask
export BUILD
SELF = $(MAKE) --no-print-directory -s BUILD=$(BUILD) SAN=$(SAN)
ifeq ($(MAKELEVEL),0)
MAKEFLAGS += -j$(shell nproc 2>/dev/null || echo 2)
endif

WARN = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wpointer-arith -Wwrite-strings -Wvla -Wformat=2
OWN  = -std=c11 -D_GNU_SOURCE -Ilib $(WARN) -DCLAWS_DATADIR='"$(DATADIR)/claws"' -ffile-prefix-map=$(CURDIR)/=
LINK = -Wl,--as-needed -lm
ifdef SAN
OWN  += -fsanitize=address,undefined -fno-omit-frame-pointer -fno-sanitize-recover=undefined
LINK += -fsanitize=address,undefined
else ifdef FUZZ
OWN  += -fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=undefined
LINK += -fsanitize=fuzzer,address,undefined
else
OWN  += -fstack-protector-strong -fPIE $(if $(filter -O0,$(CFLAGS)),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
LINK += -pie -Wl,-z,relro,-z,now
endif
ifdef WERROR
OWN += -Werror
endif

# A program is cmd/NAME.c, or all of cmd/NAME/*.c; a file without .c is a script. tests/servers is laid out the same way.
units    = $(sort $(patsubst $(1)/%.c,%,$(wildcard $(1)/*.c)) $(patsubst $(1)/%/,%,$(dir $(wildcard $(1)/*/*.c))))
PROGS   := $(call units,cmd)
SCRIPTS := $(filter-out %.c %.md $(PROGS:%=cmd/%),$(wildcard cmd/*))
NAMES   := $(PROGS) $(SCRIPTS:cmd/%=%)
SERVERS := $(call units,tests/servers)
UNITS   := $(patsubst tests/unit/%.c,%,$(wildcard tests/unit/*.c))
BENCHES := $(patsubst tests/bench/%.c,%,$(wildcard tests/bench/*.c))
FUZZERS := $(filter-out replay,$(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/*.c)))
LIBOBJ  := $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard lib/*/*.c))
SHARE   := $(wildcard share/claws/*) prompts

# Libraries beyond libc, by program: LIBS_claws-foo = -lfoo, LIBS_unit_foo. libcurl is not linked but loaded when it is needed
# (lib/net/libcurl.h): that costs more than all other start-up.

.PHONY: all tests unit servers check lint asan bench fuzz fuzzers try deps help install uninstall clean FORCE
all: $(PROGS:%=$(BUILD)/bin/%) $(SCRIPTS:cmd/%=$(BUILD)/bin/%) $(BUILD)/share/claws
unit: $(UNITS:%=$(BUILD)/tests/%)
servers: $(SERVERS:%=$(BUILD)/tests/servers/%)
tests: all unit servers $(FUZZERS:%=$(BUILD)/tests/fuzz/%)
asan: $(if $(filter check,$(MAKECMDGOALS)),,tests)

# Changed flags, a changed prefix or another compiler build anew.
FLAGS = $(CC) $(OWN) $(CPPFLAGS) $(CFLAGS) $(LINK) $(LDFLAGS)
$(BUILD)/flags: FORCE
	@mkdir -p $(@D); printf '%s\n' '$(subst ','\'',$(FLAGS))' | cmp -s - $@ || printf '%s\n' '$(subst ','\'',$(FLAGS))' >$@
$(BUILD)/obj/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(CC) $(OWN) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<
$(BUILD)/libclaws.a: $(LIBOBJ)
	@rm -f $@
	$(AR) rcs $@ $(LIBOBJ)

define link
@mkdir -p $(@D)
$(CC) $(OWN) $(CFLAGS) -o $@ $(filter %.o,$^) $(BUILD)/libclaws.a $(LINK) $(LDFLAGS)
endef
$(SCRIPTS:cmd/%=$(BUILD)/bin/%): $(BUILD)/bin/%: cmd/%
	@mkdir -p $(@D)
	$(INSTALL) -m 755 $< $@
.SECONDEXPANSION:
objects = $(patsubst %.c,$(BUILD)/obj/%.o,$(wildcard $(1).c $(1)/*.c))
$(PROGS:%=$(BUILD)/bin/%): $(BUILD)/bin/%: $$(call objects,cmd/$$*) $(BUILD)/libclaws.a
	$(link) $(LIBS_$*)
$(SERVERS:%=$(BUILD)/tests/servers/%): $(BUILD)/tests/servers/%: $$(call objects,tests/servers/$$*) $(BUILD)/libclaws.a
	$(link)
$(BENCHES:%=$(BUILD)/tests/bench/%): $(BUILD)/tests/bench/%: $(BUILD)/obj/tests/bench/%.o $(BUILD)/libclaws.a
	$(link)
$(UNITS:%=$(BUILD)/tests/%): $(BUILD)/tests/%: $(BUILD)/obj/tests/unit/%.o $(BUILD)/libclaws.a
	$(link) $(LIBS_unit_$*)
$(BUILD)/share/claws: $(SHARE) Makefile
	@mkdir -p $@
	@for f in $(SHARE); do ln -sfn "$(CURDIR)/$$f" $@/; done; touch $@

# A fuzz target is LLVMFuzzerTestOneInput in tests/fuzz/NAME.c, seeds in tests/fuzz/corpus/NAME/. `make check` replays the
# seeds through the same file; `make fuzz` searches, and keeps what breaks in $(BUILD)/fuzz/.
$(FUZZERS:%=$(BUILD)/tests/fuzz/%): $(BUILD)/tests/fuzz/%: $(BUILD)/obj/tests/fuzz/%.o $(BUILD)/obj/tests/fuzz/replay.o \
		$(BUILD)/libclaws.a
	$(link)
$(FUZZERS:%=$(BUILD)/bin/fuzz-%): $(BUILD)/bin/fuzz-%: $(BUILD)/obj/tests/fuzz/%.o $(BUILD)/libclaws.a
	$(link)
fuzzers: $(FUZZERS:%=$(BUILD)/bin/fuzz-%)
fuzz:
	+@$(MAKE) CC=clang FUZZ=1 BUILD=$(BUILD)/fuzz fuzzers
	tests/dev/fuzz $(FUZZERS)

help:
	@sed -n '/^#   make/p; /^# Yours/,/^[^#]/{/^#/p;}' $(firstword $(MAKEFILE_LIST)) | cut -c3-
deps:
	@DEPS=$(DEPS) tests/dev/deps check
try:
	@DEPS=$(DEPS) tests/dev/deps try
	+@$(SELF) all
	@PATH="$(abspath $(BUILD))/bin:$$PATH" share/claws/try/run
check:
	@DEPS=$(DEPS) tests/dev/deps check
	+@$(SELF) tests
	@tests/dev/check $(TESTS)
lint:
	@DEPS=$(DEPS) tests/dev/deps lint
	+@$(SELF) tests
	@tests/dev/lint
bench:
	+@$(SELF) all servers $(BENCHES:%=$(BUILD)/tests/bench/%)
	@tests/bench/bench; s=$$?; tests/bench/net && exit $$s

# Man pages, completions and data go where their readers look for them.
share = $(DESTDIR)$(DATADIR)
COMPLETIONS = bash-completion/completions/claws zsh/site-functions/_claws fish/vendor_completions.d/claws.fish
# The directories that install makes are kept in share/claws/.made: uninstall removes those that are empty then.
DIRS = $(BINDIR) $(MANDIR)/man1 $(MANDIR)/man5 $(MANDIR)/man7 $(patsubst %/,%,$(addprefix $(DATADIR)/,claws/ $(dir $(COMPLETIONS))))
install: all
	@{ cat $(share)/claws/.made 2>/dev/null; for d in $(DIRS); do while [ ! -d "$(DESTDIR)$$d" ]; do \
		echo "$$d"; case $$d in ?*/*) d=$${d%/*} ;; *) break ;; esac; done; done; } | sort -ru >$(BUILD)/made
	$(INSTALL) -d $(DESTDIR)$(BINDIR) $(share)/claws $(addprefix $(share)/,$(dir $(COMPLETIONS)))
	$(INSTALL) -m 755 $(PROGS:%=$(BUILD)/bin/%) $(SCRIPTS) $(DESTDIR)$(BINDIR)
	for s in 1 5 7; do for f in man/*.$$s; do [ ! -f $$f ] || $(INSTALL) -D -m 644 $$f $(DESTDIR)$(MANDIR)/man$$s/$${f##*/}; done; done
	rm -rf $(share)/claws && mkdir -p $(share)/claws && cp -R $(SHARE) $(share)/claws/ && chmod -R u=rwX,go=rX $(share)/claws
	$(INSTALL) -m 644 $(BUILD)/made $(share)/claws/.made && rm $(BUILD)/made
	$(INSTALL) -m 644 completions/claws.bash $(share)/$(word 1,$(COMPLETIONS))
	$(INSTALL) -m 644 completions/_claws $(share)/$(word 2,$(COMPLETIONS))
	$(INSTALL) -m 644 completions/claws.fish $(share)/$(word 3,$(COMPLETIONS))
	cd $(share) && for p in $(filter claws-%,$(NAMES)); do ln -sf claws bash-completion/completions/$$p; \
		ln -sf claws.fish fish/vendor_completions.d/$$p.fish; done
uninstall:
	@mkdir -p $(BUILD) && if [ -f $(share)/claws/.made ]; then sed 's|^|$(DESTDIR)|' $(share)/claws/.made; fi >$(BUILD)/made
	rm -f $(NAMES:%=$(DESTDIR)$(BINDIR)/%) $(addprefix $(share)/,$(COMPLETIONS))
	rm -f $(NAMES:%=$(share)/bash-completion/completions/%) $(NAMES:%=$(share)/fish/vendor_completions.d/%.fish)
	for f in man/*.[157]; do rm -f $(DESTDIR)$(MANDIR)/man$${f##*.}/$${f##*/}; done
	rm -rf $(share)/claws
	@while read -r d; do rmdir "$$d" 2>/dev/null; done <$(BUILD)/made; rm -f $(BUILD)/made
clean:
	rm -rf $(BUILD)

-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)

# claws: build. `make` builds, `make check` tests, `make try` shows; see README.md.
BUILD ?= build
CFLAGS ?= -O2 -g
CPPFLAGS ?=
OWN = -std=c11 -D_GNU_SOURCE -Ilib -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes \
      -Wpointer-arith -Wwrite-strings -Wvla -Wformat=2
ifdef SAN
OWN += -fsanitize=address,undefined -fno-omit-frame-pointer -fno-sanitize-recover=undefined
LDFLAGS += -fsanitize=address,undefined
endif
LDFLAGS += -Wl,--as-needed

LIBSRC := $(wildcard lib/*/*.c)
LIBOBJ := $(LIBSRC:%.c=$(BUILD)/obj/%.o)
PROGS  := $(patsubst cmd/%.c,%,$(wildcard cmd/*.c)) $(patsubst cmd/%/,%,$(wildcard cmd/*/))
SCRIPTS := $(filter-out %.c,$(wildcard cmd/claws cmd/claws-*[!.c/]))
UNITS  := $(patsubst tests/unit/%.c,%,$(wildcard tests/unit/*.c))

LIBS_claws-stream = -lcurl

all: $(PROGS:%=$(BUILD)/bin/%) $(BUILD)/share
.PHONY: all unit
unit: $(UNITS:%=$(BUILD)/tests/%)

$(BUILD)/obj/%.o: %.c
	@mkdir -p $(@D)
	$(CC) $(OWN) $(CPPFLAGS) $(CFLAGS) -MMD -MP -c -o $@ $<
$(BUILD)/libclaws.a: $(LIBOBJ)
	@rm -f $@
	$(AR) rcs $@ $(LIBOBJ)
.SECONDEXPANSION:
$(BUILD)/bin/%: $$(patsubst %.c,$(BUILD)/obj/%.o,$$(wildcard cmd/$$*.c cmd/$$*/*.c)) $(BUILD)/libclaws.a
	@mkdir -p $(@D)
	$(CC) $(OWN) $(CFLAGS) -o $@ $(filter %.o,$^) $(BUILD)/libclaws.a $(LDFLAGS) $(LIBS_$*)
$(BUILD)/tests/%: $(BUILD)/obj/tests/unit/%.o $(BUILD)/libclaws.a
	@mkdir -p $(@D)
	$(CC) $(OWN) $(CFLAGS) -o $@ $< $(BUILD)/libclaws.a $(LDFLAGS) $(LIBS_unit_$*)
$(BUILD)/share: $(wildcard share/claws/*)
	@mkdir -p $(BUILD)/share/claws && for f in $(CURDIR)/share/claws/* $(CURDIR)/prompts; do ln -sfn $$f $(BUILD)/share/claws/; done; touch $@
-include $(shell find $(BUILD)/obj -name '*.d' 2>/dev/null)

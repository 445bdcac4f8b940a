/* Amounts of money, as whole cents: "12.50" is 1250, "-3" is -300. */
#ifndef MONEY_H
#define MONEY_H

#include <stddef.h>

/* 0, or -1 if s is not an amount. */
int money_parse(const char *s, long *cents);

/* Writes cents as "12.50". */
void money_format(long cents, char *out, size_t size);

#endif

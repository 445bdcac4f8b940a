/* near.h - which known name may have been meant: "bash" for Bash, "Raed" for Read.
 *
 *   if (name_near("Bsh", "Bash")) ...
 *
 * True if the names are equal but for upper and lower case, one begins with the other (three letters or more), or at most
 * two letters are changed, missing, added or swapped with their neighbour (one in a name of up to four letters). */
#ifndef AGENT_NEAR_H
#define AGENT_NEAR_H

#include <stdbool.h>

bool name_near(const char *given, const char *known);

#endif

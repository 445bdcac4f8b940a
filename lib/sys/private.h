/* private.h - keeps other processes of this user out of this one.
 *
 *   process_private();      // first thing in a program that holds keys, or that judges what others may do
 *
 * Not dumpable (prctl(2), PR_SET_DUMPABLE): /proc/PID/environ, mem and fd are root's, nobody traces it, no core file. Children are
 * so until they call exec(3). Root is not kept out. Does nothing in a sanitizer build, whose leak check traces. */
#ifndef SYS_PRIVATE_H
#define SYS_PRIVATE_H

void process_private(void);

#endif

// Vitest setup: turns off pauses and short waits that depend on the speed of the machine.
import { COSTLY_WORK } from "../platform/background/fair-queue.ts";
import { CONNECT_TIMEOUT, LOCK_TIMEOUT } from "../platform/database/database.ts";

// All requests of a test come from one network, so its sign-ins would wait for each other (fair-queue.test.ts covers the pauses).
COSTLY_WORK.rests = false;
// On a busy machine, requests that wait for one row on purpose may wait longer than the usual limit.
LOCK_TIMEOUT.ms = 30_000;
// A process that is stopped while it connects finds its own limit exceeded when it continues.
CONNECT_TIMEOUT.ms = 30_000;

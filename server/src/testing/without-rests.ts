// Vitest setup: turns off the pauses between costly items of one owner. All requests of a test come from one network, so its sign-ins would
// wait for each other (fair-queue.test.ts covers the pauses).
import { COSTLY_WORK } from "../platform/background/fair-queue.ts";

COSTLY_WORK.rests = false;

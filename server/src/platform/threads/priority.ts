// Sets which threads run first when processors are busy.
import { platform, setPriority } from "node:os";

/** Ten such threads get about as much time as the serving thread. */
const FAR_BEHIND = 10;
/** Three such threads do, for work that is limited by wall time. */
const BEHIND = 5;

/**
 * Lowers the priority of this thread below the serving thread. Linux applies it to the thread, so other systems are left alone because they
 * apply it to the process.
 */
export function lowerPriority({ isTimed = false } = {}): void {
  if (platform() === "linux") setPriority(isTimed ? BEHIND : FAR_BEHIND);
}

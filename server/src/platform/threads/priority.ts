// Which thread goes first when processors are short.
import { platform, setPriority } from "node:os";

/** Ten of such threads get about as much as the one that serves. */
const FAR_BEHIND = 10;
/** Three of them do: for work whose time is measured by the clock. */
const BEHIND = 5;

/** Puts this thread behind whoever answers requests. Linux takes it for the thread alone, others for the whole process. */
export function goBehind({ isTimed = false } = {}): void {
  if (platform() === "linux") setPriority(isTimed ? BEHIND : FAR_BEHIND);
}

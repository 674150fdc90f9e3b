// Tabs of one browser agree: what one changes, the others read again.
import type { QueryClient } from "@tanstack/react-query";

const CHANNEL = "postloft.changes";
/** Changes that come together are read once. */
const TOGETHER_MS = 300;
/** Of a query whose answer is being edited: it is not read again under the hands of whoever edits it. */
export const EDITED = { isEdited: true } as const;

/** Tells the other tabs of each change that succeeded, and hears of theirs. */
export function joinTabs(queries: QueryClient): void {
  const channel = new BroadcastChannel(CHANNEL);
  let waiting: ReturnType<typeof setTimeout> | undefined;
  queries.getMutationCache().subscribe((event) => {
    if (event.type !== "updated" || event.action.type !== "success") return;
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel reaches its own origin alone
    channel.postMessage("changed");
  });
  channel.addEventListener("message", () => {
    waiting ??= setTimeout(() => {
      waiting = undefined;
      void queries.invalidateQueries({ predicate: ({ meta }) => meta !== EDITED });
    }, TOGETHER_MS);
  });
}

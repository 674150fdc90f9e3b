// Keeps the tabs of one browser in sync by refetching after changes in another tab.
import type { QueryClient } from "@tanstack/react-query";

const CHANNEL = "postloft.changes";
/** Changes within this time cause a single refetch. */
const COALESCE_MS = 300;
/** Marks a query that is being edited, so that it is not refetched under the user's edits. */
export const EDITED = { isEdited: true } as const;

/** Announces each successful mutation to the other tabs and refetches after theirs. */
export function joinTabs(queries: QueryClient): void {
  const channel = new BroadcastChannel(CHANNEL);
  let waiting: ReturnType<typeof setTimeout> | undefined;
  queries.getMutationCache().subscribe((event) => {
    if (event.type !== "updated" || event.action.type !== "success") return;
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a BroadcastChannel is limited to its origin
    channel.postMessage("changed");
  });
  channel.addEventListener("message", () => {
    waiting ??= setTimeout(() => {
      waiting = undefined;
      void queries.invalidateQueries({ predicate: ({ meta }) => meta !== EDITED });
    }, COALESCE_MS);
  });
}

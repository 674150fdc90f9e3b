// Subscribes to a project's server-sent events so that views refresh immediately instead of at the next poll. Uses fetch because
// EventSource cannot send the X-Project-Id header.
import { useEffect } from "react";
import { api } from "./endpoints.ts";

const AGAIN_MS = 3_000;
/** Minimum time between two notifications, because refetching costs more than receiving events. */
const COALESCE_MS = 1_000;

/** Calls `onActivity` soon after an event. Disconnects while the tab is hidden, because browsers limit connections per server. */
export function useActivityEvents(projectId: string, onActivity: () => void): void {
  useEffect(() => {
    let ending = new AbortController();
    let reported = 0;
    let waiting: ReturnType<typeof setTimeout> | undefined;
    const notify = () => {
      waiting ??= setTimeout(
        () => {
          waiting = undefined;
          reported = Date.now();
          onActivity();
        },
        Math.max(0, reported + COALESCE_MS - Date.now()),
      );
    };
    const look = () => {
      ending.abort();
      ending = new AbortController();
      if (document.visibilityState === "visible") void follow(projectId, notify, ending.signal);
    };
    look();
    document.addEventListener("visibilitychange", look);
    return () => {
      document.removeEventListener("visibilitychange", look);
      clearTimeout(waiting);
      ending.abort();
    };
  }, [projectId, onActivity]);
}

/** Reconnects until `signal` aborts. The server closes every connection after a while. */
async function follow(projectId: string, onActivity: () => void, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await hear(projectId, onActivity, signal).catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}

async function hear(projectId: string, onActivity: () => void, signal: AbortSignal): Promise<void> {
  const response = await fetch(api.activity.stream.path, { headers: { "x-project-id": projectId }, signal });
  if (!response.ok || response.body === null) return;
  // Refetch once for events missed while disconnected.
  onActivity();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    if (value.includes("event: ")) onActivity();
  }
}

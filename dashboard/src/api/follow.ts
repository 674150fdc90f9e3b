// Subscribes to a project's server-sent events so that views refresh immediately instead of at the next poll. Uses fetch because
// EventSource cannot send the X-Project-Id header.
import { useEffect } from "react";
import type { streamActivity } from "@postloft/contract/activity.ts";
import type { Address } from "./call.ts";

const address: Address<typeof streamActivity> = { method: "GET", path: "/activity/stream", envelope: "raw" };
const AGAIN_MS = 3_000;
/** Minimum time between two notifications, because refetching costs more than receiving events. */
const TOGETHER_MS = 1_000;

/** Calls `onNews` soon after an event. Disconnects while the tab is hidden, because browsers limit connections per server. */
export function useNews(projectId: string, onNews: () => void): void {
  useEffect(() => {
    let ending = new AbortController();
    let told = 0;
    let waiting: ReturnType<typeof setTimeout> | undefined;
    const tell = () => {
      waiting ??= setTimeout(
        () => {
          waiting = undefined;
          told = Date.now();
          onNews();
        },
        Math.max(0, told + TOGETHER_MS - Date.now()),
      );
    };
    const look = () => {
      ending.abort();
      ending = new AbortController();
      if (document.visibilityState === "visible") void follow(projectId, tell, ending.signal);
    };
    look();
    document.addEventListener("visibilitychange", look);
    return () => {
      document.removeEventListener("visibilitychange", look);
      clearTimeout(waiting);
      ending.abort();
    };
  }, [projectId, onNews]);
}

/** Reconnects until `signal` aborts. The server closes every connection after a while. */
async function follow(projectId: string, onNews: () => void, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await hear(projectId, onNews, signal).catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}

async function hear(projectId: string, onNews: () => void, signal: AbortSignal): Promise<void> {
  const response = await fetch(address.path, { headers: { "x-project-id": projectId }, signal });
  if (!response.ok || response.body === null) return;
  // Refetch once for events missed while disconnected.
  onNews();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    if (value.includes("event: ")) onNews();
  }
}

// Hears that something happened in a project (server-sent events), so that what shows it reads it again at once and not at its next look.
// Not by EventSource, which cannot name the project.
import { useEffect } from "react";
import type { streamActivity } from "@postloft/contract/activity.ts";
import type { Address } from "./call.ts";

const address: Address<typeof streamActivity> = { method: "GET", path: "/activity/stream", envelope: "raw" };
const AGAIN_MS = 3_000;
/** So long nothing is passed on after something was: what is read again costs more than what is heard. */
const TOGETHER_MS = 1_000;

/** Calls `onNews` soon after something happened, while the page is looked at: a connection of a hidden one would be missed elsewhere. */
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

/** Until the signal: each connection ends after a while, and when the server does. */
async function follow(projectId: string, onNews: () => void, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await hear(projectId, onNews, signal).catch(() => undefined);
    await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
  }
}

async function hear(projectId: string, onNews: () => void, signal: AbortSignal): Promise<void> {
  const response = await fetch(address.path, { headers: { "x-project-id": projectId }, signal });
  if (!response.ok || response.body === null) return;
  // What was missed while nobody listened.
  onNews();
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    if (value.includes("event: ")) onNews();
  }
}

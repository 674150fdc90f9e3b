// Deletes everything this browser stores for an account, such as drafts and chosen files, in all tabs.

const PREFIX = "postloft.";
/** Browser settings that contain no account data. */
const KEPT: ReadonlySet<string> = new Set(["postloft.theme", "postloft.language", "postloft.shortcuts"]);
/** Each tab has its own session storage, so sign-out is broadcast to the other tabs. */
const CHANNEL = "postloft.sign-out";

function forget(): void {
  for (const store of [sessionStorage, localStorage])
    for (const name of Object.keys(store))
      if (name.startsWith(PREFIX) && !KEPT.has(name)) store.removeItem(name);
}

/** Deletes the stored data in this tab and all others. */
export function forgetBrowser(): void {
  forget();
  const channel = new BroadcastChannel(CHANNEL);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a BroadcastChannel is limited to its origin
  channel.postMessage("forget");
  channel.close();
}

/** Deletes the stored data when another tab signs out. Never unsubscribes. */
export function forgetWithOtherTabs(): void {
  new BroadcastChannel(CHANNEL).addEventListener("message", forget);
}

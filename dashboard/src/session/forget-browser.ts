// Deletes drafts, chosen files and everything else that this browser keeps of an account, in all of its tabs.

const PREFIX = "postloft.";
/** Settings of the browser, which say nothing about the account. */
const KEPT: ReadonlySet<string> = new Set(["postloft.theme", "postloft.language", "postloft.shortcuts"]);
/** Other tabs have a session store of their own. */
const CHANNEL = "postloft.sign-out";

function forget(): void {
  for (const store of [sessionStorage, localStorage])
    for (const name of Object.keys(store))
      if (name.startsWith(PREFIX) && !KEPT.has(name)) store.removeItem(name);
}

/** Deletes it here and in the other tabs. */
export function forgetBrowser(): void {
  forget();
  const channel = new BroadcastChannel(CHANNEL);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a channel reaches its own origin alone
  channel.postMessage("forget");
  channel.close();
}

/** Deletes it when another tab signs out. Runs as long as the page. */
export function forgetWithOtherTabs(): void {
  new BroadcastChannel(CHANNEL).addEventListener("message", forget);
}

// The tabs of the settings page.
const TABS = [
  "general",
  "brand",
  "images",
  "members",
  "notifications",
  "webhooks",
  "smtp",
  "transports",
  "fields",
  "reputation",
  "usage",
  "suppressions",
  "audit",
  "danger",
] as const;
export type Tab = (typeof TABS)[number];

/** Returns the tab of a URL, or the first one if the URL names none. */
export function tabOf(asked: string | undefined): Tab {
  return TABS.find((tab) => tab === asked) ?? TABS[0];
}

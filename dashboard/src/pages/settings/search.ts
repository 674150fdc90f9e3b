// What the URL of the settings says.
export const TABS = [
  "general",
  "members",
  "notifications",
  "fields",
  "reputation",
  "usage",
  "suppressions",
  "audit",
  "danger",
] as const;
export type Tab = (typeof TABS)[number];

export interface SettingsSearch {
  tab?: Tab;
  search?: string;
}

/** What of the URL is understood; the rest is left out. */
export function readSettingsSearch({ tab, search }: Record<string, unknown>): SettingsSearch {
  return {
    ...(TABS.some((one) => one === tab) ? { tab: tab as Tab } : {}),
    ...(typeof search === "string" && search !== "" ? { search } : {}),
  };
}

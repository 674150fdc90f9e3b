// Search parameters of the settings page.
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

/** Parses the search parameters and drops invalid ones. */
export function readSettingsSearch({ tab, search }: Record<string, unknown>): SettingsSearch {
  return {
    ...(TABS.some((one) => one === tab) ? { tab: tab as Tab } : {}),
    ...(typeof search === "string" && search !== "" ? { search } : {}),
  };
}

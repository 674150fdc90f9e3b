// Search parameters of the settings page.
export const TABS = [
  "general",
  "members",
  "notifications",
  "webhooks",
  "smtp",
  "fields",
  "reputation",
  "usage",
  "suppressions",
  "audit",
  "danger",
] as const;
export type Tab = (typeof TABS)[number];

export const DELIVERY_STATES = ["waiting", "done", "failed"] as const;
export type DeliveryState = (typeof DELIVERY_STATES)[number];

export interface SettingsSearch {
  tab?: Tab;
  search?: string;
  /** The id of a webhook endpoint. */
  endpoint?: string;
  /** The state of its deliveries. */
  state?: DeliveryState;
}

/** Parses the search parameters and drops invalid ones. */
export function readSettingsSearch({
  tab,
  search,
  endpoint,
  state,
}: Record<string, unknown>): SettingsSearch {
  return {
    ...(TABS.some((one) => one === tab) ? { tab: tab as Tab } : {}),
    ...(typeof search === "string" && search !== "" ? { search } : {}),
    ...(typeof endpoint === "string" && endpoint !== "" ? { endpoint } : {}),
    ...(DELIVERY_STATES.some((one) => one === state) ? { state: state as DeliveryState } : {}),
  };
}

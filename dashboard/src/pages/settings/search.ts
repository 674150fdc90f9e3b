// Search parameters of the settings page.
import type { Tab } from "./tabs.ts";

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
    // The page checks it, so that the names of tabs are not part of the first load.
    ...(typeof tab === "string" && { tab: tab as Tab }),
    ...(typeof search === "string" && search && { search }),
    ...(typeof endpoint === "string" && endpoint && { endpoint }),
    ...(DELIVERY_STATES.includes(state as DeliveryState) && { state: state as DeliveryState }),
  };
}

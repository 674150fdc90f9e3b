// Checks the dashboard's endpoints against the contract.
import { expect, test } from "vitest";
import { ENDPOINTS } from "@postloft/contract/endpoints.ts";
import * as accountAddresses from "./account-endpoints.ts";
import * as addresses from "./endpoints.ts";
import * as notificationAddresses from "./notification-endpoints.ts";
import * as viewAddresses from "./view-endpoints.ts";

test("every endpoint the dashboard calls is in the contract with the same envelope", () => {
  const known = new Set(ENDPOINTS.map(({ method, path, envelope }) => `${method} ${path} ${envelope}`));
  const called = Object.values({
    ...accountAddresses,
    ...addresses,
    ...notificationAddresses,
    ...viewAddresses,
  }).map(({ method, path, envelope }) => `${method} ${path} ${envelope}`);
  expect(called.filter((one) => !known.has(one))).toEqual([]);
  expect(called.length).toBeGreaterThan(5);
});

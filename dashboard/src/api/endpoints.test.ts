// The addresses of the dashboard, held against the contract.
import { expect, test } from "vitest";
import { ENDPOINTS } from "@postloft/contract/endpoints.ts";
import * as accountAddresses from "./account-endpoints.ts";
import * as addresses from "./endpoints.ts";
import * as notificationAddresses from "./notification-endpoints.ts";
import * as viewAddresses from "./view-endpoints.ts";

test("every address the dashboard calls is one of the contract, with its envelope", () => {
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

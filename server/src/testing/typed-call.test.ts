// The address of a typed call: parameters, query strings, and missing parameters.
import { expect, test } from "vitest";
import * as contacts from "@postloft/contract/contacts.ts";
import * as suppressions from "@postloft/contract/suppressions.ts";
import { addressOf } from "./typed-call.ts";

test("an address contains the encoded parameters and the query without undefined values", () => {
  const params = { address: "a/b?c@example.com" };
  expect(addressOf(suppressions.explainSuppression, { params })).toBe(
    "/suppressions/a%2Fb%3Fc%40example.com",
  );
  const query = { limit: 2, subscribed: true, search: "a&b", sort: undefined };
  expect(addressOf(contacts.listContacts, { query })).toBe("/contacts?limit=2&subscribed=true&search=a%26b");
  expect(addressOf(contacts.listContacts, { anyQuery: "?limit=x" })).toBe("/contacts?limit=x");
});

test("a call without a parameter of its path fails and names the parameter", () => {
  expect(() => addressOf(contacts.getContact, {})).toThrow("/contacts/:id lacks the parameter id");
});

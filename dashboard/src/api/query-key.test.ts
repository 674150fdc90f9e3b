// Tests which keys the endpoints of the contract get, and which of them an invalidation matches.
import { QueryClient } from "@tanstack/react-query";
import { expect, test } from "vitest";
import { ENDPOINTS } from "@postloft/contract/endpoints.ts";
import { api } from "./endpoints.ts";
import { endpointKey, projectKey, resourceKey } from "./query-key.ts";

const project = { projectId: "p" };
const contact = { ...project, params: { id: "c" } };

test("a key is the project, the path with its parameters, and the rest of the input", () => {
  expect(endpointKey(api.users.listSessions)).toEqual(["users", "@me", "sessions", {}]);
  expect(endpointKey(api.contacts.consent, contact)).toEqual([
    "project",
    "p",
    "contacts",
    "c",
    "consent",
    {},
  ]);
  expect(endpointKey(api.emails.list, { ...project, query: { status: "SENT" } })).toEqual([
    "project",
    "p",
    "emails",
    { status: "SENT" },
  ]);
  expect(endpointKey(api.contacts.search, { ...project, body: { limit: 5 } })).toEqual([
    "project",
    "p",
    "contacts",
    "search",
    { limit: 5 },
  ]);
});

test("the project comes first in a key even if the path names it", () => {
  expect(endpointKey(api.members.list, project)).toEqual(["project", "p", "members", {}]);
  expect(endpointKey(api.domains.list, project)).toEqual(["project", "p", "domains", {}]);
  expect(endpointKey(api.billing.limits, project)).toEqual([
    "project",
    "p",
    "users",
    "@me",
    "billing-limits",
    {},
  ]);
});

test("no two reads of the contract share a key", () => {
  const keys = ENDPOINTS.filter(({ isRead, envelope }) => isRead && envelope !== "page").map((endpoint) => {
    const names = [...endpoint.path.matchAll(/:(\w+)/g)].map(([, name]) => name ?? "");
    const params = Object.fromEntries(names.map((name) => [name, `<${name}>`]));
    return JSON.stringify(
      resourceKey(endpoint as Parameters<typeof resourceKey>[0], { projectId: "p", params }),
    );
  });
  expect(keys.length).toBeGreaterThan(100);
  expect(keys.filter((key, at) => keys.indexOf(key) !== at)).toEqual([]);
});

test.each([
  ["a project", projectKey("p"), ["list", "filtered", "pages", "contact", "consent", "members"]],
  ["all projects", projectKey(), ["list", "filtered", "pages", "contact", "consent", "members", "other"]],
  [
    "a path and those below",
    resourceKey(api.contacts.list, project),
    ["list", "filtered", "pages", "contact", "consent"],
  ],
  ["a contact", resourceKey(api.contacts.get, contact), ["contact", "consent"]],
  ["the lists alone", endpointKey(api.contacts.list, project), ["list", "filtered", "pages"]],
  [
    "the lists with a query",
    endpointKey(api.contacts.list, { ...project, query: { search: "a" } }),
    ["filtered"],
  ],
])("invalidates %s", async (_what, key, expected) => {
  const queries = new QueryClient();
  const known = {
    list: endpointKey(api.contacts.list, project),
    filtered: endpointKey(api.contacts.list, { ...project, query: { search: "a", limit: "5" } }),
    pages: [...endpointKey(api.contacts.list, project), "pages"],
    contact: endpointKey(api.contacts.get, contact),
    consent: [...endpointKey(api.contacts.consent, contact), true],
    members: endpointKey(api.members.list, project),
    other: endpointKey(api.contacts.list, { projectId: "other" }),
    account: endpointKey(api.users.me),
  };
  for (const name of Object.values(known)) queries.setQueryData(name, name);
  await queries.invalidateQueries({ queryKey: key });
  const stale = Object.entries(known).filter(
    ([, name]) => queries.getQueryState(name)?.isInvalidated === true,
  );
  expect(stale.map(([name]) => name)).toEqual(expected);
});

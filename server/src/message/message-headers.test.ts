// Tests the header fields of each kind of email (spec §3.1, D12, D15–D17) and their precedence.
import { expect, test } from "vitest";
import { EMAIL_KINDS } from "@postloft/contract/emails.ts";
import { messageHeaders, type HeaderFacts } from "./message-headers.ts";

const PROJECT = "01990000-0000-7000-8000-000000000001";
const CAMPAIGN = "01990000-0000-7000-8000-00000000000c";

function headersOf(changes: Partial<HeaderFacts>): Record<string, string> {
  const fields = messageHeaders({
    publicProjectId: PROJECT,
    signedId: null,
    campaignId: null,
    kind: "TRANSACTIONAL",
    listKind: null,
    fromAddress: "news@mail.example.com",
    unsubscribeUrl: "https://post.example/unsubscribe/abc",
    custom: [],
    rewrites: [],
    ...changes,
  });
  expect(new Set(fields.map(({ name }) => name.toLowerCase())).size).toBe(fields.length);
  return Object.fromEntries(fields.map(({ name, value }) => [name, value]));
}

const WAY_OUT = {
  "List-Id": `<${PROJECT}.mail.example.com>`,
  "List-Unsubscribe": "<https://post.example/unsubscribe/abc>",
  "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
};

test.each(EMAIL_KINDS)(
  "%s email outside a list is marked auto-generated and has no unsubscribe header",
  (kind) => {
    const { "Feedback-ID": _, ...rest } = headersOf({ kind });
    expect(rest).toEqual({ "Auto-Submitted": "auto-generated" });
  },
);

test.each(
  EMAIL_KINDS.flatMap((kind) => (["MARKETING", "HEADLESS"] as const).map((list) => [kind, list] as const)),
)("%s email of the kind %s names its list and offers one-click unsubscribe", (kind, listKind) => {
  const { "Feedback-ID": _, ...rest } = headersOf({ kind, listKind });
  expect(rest).toEqual(WAY_OUT);
});

test.each<[Partial<HeaderFacts>, string]>([
  [{}, `:${PROJECT}:transactional:postloft`],
  [{ kind: "WORKFLOW" }, `:${PROJECT}:workflow:postloft`],
  [{ kind: "WORKFLOW", listKind: "HEADLESS" }, `:${PROJECT}:headless:postloft`],
  [{ kind: "CAMPAIGN", campaignId: CAMPAIGN }, `${CAMPAIGN}:${PROJECT}:campaign:postloft`],
  [
    { kind: "CAMPAIGN", campaignId: CAMPAIGN, listKind: "MARKETING" },
    `${CAMPAIGN}:${PROJECT}:marketing:postloft`,
  ],
])(
  "writes the Feedback-ID of %j as %s with four parts, the sender id last and no recipient",
  (facts, value) => {
    expect(headersOf(facts)["Feedback-ID"]).toBe(value);
    const parts = value.split(":");
    expect(parts).toHaveLength(4);
    expect(parts[3]).toMatch(/^[a-z]{5,15}$/);
  },
);

test("prefers the caller's List-Unsubscribe and then omits both of our fields", () => {
  const custom = [
    { name: "list-unsubscribe", value: "<mailto:stop@example.com>" },
    { name: "List-Unsubscribe-Post", value: "List-Unsubscribe=One-Click" },
  ];
  const { "Feedback-ID": _, ...rest } = headersOf({ listKind: "MARKETING", custom });
  expect(rest).toEqual({
    "list-unsubscribe": "<mailto:stop@example.com>",
    "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
    "List-Id": WAY_OUT["List-Id"],
  });
});

test.each([
  ["Auto-Submitted", null],
  ["auto-submitted", null],
  ["List-Id", "MARKETING"],
] as const)("prefers a custom %s over ours", (name, listKind) => {
  const custom = [{ name, value: "mine" }];
  expect(headersOf({ listKind, custom })[name]).toBe("mine");
});

test("writes custom fields first and in their order", () => {
  const custom = [
    { name: "X-B", value: "1" },
    { name: "X-A", value: "2" },
  ];
  expect(Object.keys(headersOf({ custom }))).toEqual(["X-B", "X-A", "Auto-Submitted", "Feedback-ID"]);
});

test("omits a field that the transport writes itself", () => {
  expect(headersOf({ rewrites: ["feedback-id", "date"] })).toEqual({ "Auto-Submitted": "auto-generated" });
});

test("throws for bulk mail without an unsubscribe link", () => {
  expect(() => headersOf({ listKind: "HEADLESS", unsubscribeUrl: null })).toThrow(
    "bulk mail needs an unsubscribe URL",
  );
});

test("adds the signed id to every email that has its own return path", () => {
  expect(headersOf({ signedId: "b+abc" })).toMatchObject({ "X-Postloft-Id": "b+abc" });
  expect(headersOf({})).not.toHaveProperty("X-Postloft-Id");
});

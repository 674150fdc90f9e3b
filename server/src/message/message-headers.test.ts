// Which header fields each kind of mail gets: the matrix of spec §3.1 (D12, D15–D17), and who has the last word.
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
  "%s mail to nobody's list says that no person wrote it, and offers no way out",
  (kind) => {
    const { "Feedback-ID": _, ...rest } = headersOf({ kind });
    expect(rest).toEqual({ "Auto-Submitted": "auto-generated" });
  },
);

test.each(
  EMAIL_KINDS.flatMap((kind) => (["MARKETING", "HEADLESS"] as const).map((list) => [kind, list] as const)),
)("%s mail of the kind %s names its list and offers the way out with one click", (kind, listKind) => {
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
  "Feedback-ID of %j is %s: four parts, the sender of 5 to 15 characters last, no recipient",
  (facts, value) => {
    expect(headersOf(facts)["Feedback-ID"]).toBe(value);
    const parts = value.split(":");
    expect(parts).toHaveLength(4);
    expect(parts[3]).toMatch(/^[a-z]{5,15}$/);
  },
);

test("the caller's own way out goes before ours, and ours is not half there", () => {
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
] as const)("a custom %s goes before ours", (name, listKind) => {
  const custom = [{ name, value: "mine" }];
  expect(headersOf({ listKind, custom })[name]).toBe("mine");
});

test("custom fields come first, in their order", () => {
  const custom = [
    { name: "X-B", value: "1" },
    { name: "X-A", value: "2" },
  ];
  expect(Object.keys(headersOf({ custom }))).toEqual(["X-B", "X-A", "Auto-Submitted", "Feedback-ID"]);
});

test("a field the transport writes itself is left to it", () => {
  expect(headersOf({ rewrites: ["feedback-id", "date"] })).toEqual({ "Auto-Submitted": "auto-generated" });
});

test("mail to a list without a way out is not made", () => {
  expect(() => headersOf({ listKind: "HEADLESS", unsubscribeUrl: null })).toThrow(
    "no address to unsubscribe",
  );
});

test("what proves which mail it is stands in every mail that has an address of its own for what comes back", () => {
  expect(headersOf({ signedId: "b+abc" })).toMatchObject({ "X-Postloft-Id": "b+abc" });
  expect(headersOf({})).not.toHaveProperty("X-Postloft-Id");
});

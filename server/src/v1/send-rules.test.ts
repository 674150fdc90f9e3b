// Recipients that bulk mail may reach, over several calls.
import { expect, test } from "vitest";
import { contactKey, findUnreachable, type ListCall } from "./send-rules.ts";

const states = new Map([
  [contactKey("p", "yes@x.y"), true],
  [contactKey("p", "no@x.y"), false],
  [contactKey("q", "no@x.y"), true],
]);

/** `list yes+no -` is a bulk call to two addresses with `subscribed: false`. `+` means true, and no sign leaves it out. */
function callOf(text: string): ListCall | null {
  if (text === "refused") return null;
  const [kind = "", names = "", change] = text.split(" ");
  const addresses = names.split("+").map((name) => `${name}@x.y`);
  const subscribed = change === undefined ? undefined : change === "+";
  return { projectId: "p", addresses, copies: [], subscribed, isToList: kind === "list" };
}

test.for([
  [["list yes"], [null]],
  [["list no"], ["no"]],
  [["list new"], ["new"]],
  [["list yes+no+new"], ["no"]],
  [["list yes+yes"], [null]],
  [["list no +"], [null]],
  [["list new +"], [null]],
  [["list yes -"], ["yes"]],
  [["mail no"], [null]],
  [
    ["mail new", "list new"],
    [null, "new"],
  ],
  [
    ["mail new +", "list new"],
    [null, null],
  ],
  [
    ["mail yes -", "list yes"],
    [null, "yes"],
  ],
  [
    ["list yes", "mail yes -", "list yes", "mail yes +", "list yes"],
    [null, null, "yes", null, null],
  ],
  [
    ["list yes+no -", "list yes"],
    ["yes", null],
  ],
  [
    ["refused", "list yes"],
    [null, null],
  ],
  [
    ["mail no", "list no"],
    [null, "no"],
  ],
] as Array<[string[], Array<string | null>]>)(
  "finds for %j the unreachable addresses %j",
  ([calls, names]) => {
    const expected = names.map((name) => (name === null ? null : `${name}@x.y`));
    expect(findUnreachable(calls.map(callOf), states)).toEqual(expected);
  },
);

test("treats the same address in another project as another contact", () => {
  const call = { addresses: ["no@x.y"], copies: [], subscribed: undefined, isToList: true };
  expect(
    findUnreachable(
      [
        { ...call, projectId: "q" },
        { ...call, projectId: "p" },
      ],
      states,
    ),
  ).toEqual([null, "no@x.y"]);
});

test("sends no copy of bulk mail to unsubscribed contacts, but to other addresses", () => {
  const call = { projectId: "p", addresses: ["yes@x.y"], subscribed: true, isToList: true };
  const calls = [
    { ...call, copies: ["new@x.y", "no@x.y"] },
    { ...call, copies: ["new@x.y", "yes@x.y"] },
    { ...call, copies: ["no@x.y"], isToList: false },
  ];
  expect(findUnreachable(calls, states)).toEqual(["no@x.y", null, null]);
});

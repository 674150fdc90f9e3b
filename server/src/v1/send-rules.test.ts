// Whom mail to a list may reach, one call after the other.
import { expect, test } from "vitest";
import { contactKey, findUnreachable, type ListCall } from "./send-rules.ts";

const states = new Map([
  [contactKey("p", "yes@x.y"), true],
  [contactKey("p", "no@x.y"), false],
  [contactKey("q", "no@x.y"), true],
]);

/** `list yes+no -` is a call to a list, to two addresses, with `subscribed: false`; `+` says true, nothing says nothing. */
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
] as Array<[string[], Array<string | null>]>)("%j: %j", ([calls, names]) => {
  const expected = names.map((name) => (name === null ? null : `${name}@x.y`));
  expect(findUnreachable(calls.map(callOf), states)).toEqual(expected);
});

test("the same address in another project is another contact", () => {
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

test("a copy of mail to a list goes to nobody who unsubscribed, whatever is said of the recipient; to an archive it goes", () => {
  const call = { projectId: "p", addresses: ["yes@x.y"], subscribed: true, isToList: true };
  const calls = [
    { ...call, copies: ["new@x.y", "no@x.y"] },
    { ...call, copies: ["new@x.y", "yes@x.y"] },
    { ...call, copies: ["no@x.y"], isToList: false },
  ];
  expect(findUnreachable(calls, states)).toEqual(["no@x.y", null, null]);
});

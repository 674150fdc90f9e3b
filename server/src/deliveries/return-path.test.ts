// Checks that return paths identify their email, fit into an address, and can't be forged.
import { expect, test } from "vitest";
import { newId } from "../platform/ids.ts";
import { createReturnPaths, isReturnPath } from "./return-path.ts";

const paths = createReturnPaths("a secret that is long enough");
const made = () => {
  const mail = { projectId: newId(), emailId: newId() };
  return { mail, text: paths.localPartOf(mail.projectId, mail.emailId) ?? "" };
};

test("an address in any case identifies its email within the 64 octets of RFC 5321", () => {
  for (let times = 0; times < 200; times++) {
    const { mail, text } = made();
    expect(text).toMatch(/^b\+[a-z2-7]{61}$/);
    expect([paths.read(text), paths.read(text.toUpperCase())]).toEqual([mail, mail]);
  }
});

test("rejects a changed, cut, extended or foreign address", () => {
  const { mail, text } = made();
  const foreign =
    createReturnPaths("another secret, as long").localPartOf(mail.projectId, mail.emailId) ?? "";
  const changed = Array.from({ length: 61 }, (_, at) => {
    const place = at + 2;
    return text.slice(0, place) + (text[place] === "a" ? "q" : "a") + text.slice(place + 1);
  });
  for (const forged of [
    ...changed,
    foreign,
    text.slice(0, -1),
    `${text}a`,
    text.slice(2),
    `c${text.slice(1)}`,
    "",
    "b+",
  ])
    expect(paths.read(forged)).toBeNull();
});

test("one email's token reveals nothing about another", () => {
  const [one, other] = [made(), made()];
  const grafted = one.text.slice(0, 52) + other.text.slice(52);
  expect(paths.read(grafted)).toBeNull();
});

test("returns no address for foreign ids", () => {
  expect(paths.localPartOf("00000000-0000-4000-8000-000000000000", newId())).toBeNull();
  expect(paths.localPartOf("x", newId())).toBeNull();
});

test("recognizes return paths by their form", () => {
  expect(["b+abc", "B+", "b", "ada"].map(isReturnPath)).toEqual([true, true, false, false]);
});

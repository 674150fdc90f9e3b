// Tests which addresses share a destination.
import { expect, test } from "vitest";
import { destinationOf, domainsOf } from "./destinations.ts";

test.each([
  ["gmail", "gmail.com", "googlemail.com"],
  ["microsoft", "outlook.com", "hotmail.com", "live.com", "msn.com", "hotmail.co.uk", "outlook.de"],
  ["yahoo", "yahoo.com", "ymail.com", "aol.com", "rocketmail.com", "yahoo.co.uk"],
  ["apple", "icloud.com", "me.com", "mac.com"],
  ["gmx", "gmx.de", "web.de"],
  ["proton", "proton.me", "pm.me"],
  ["mail.ru", "mail.ru", "bk.ru"],
  ["yandex", "yandex.ru", "ya.ru"],
])("treats %s as one destination with all of its domains", (destination, ...domains) => {
  for (const domain of domains) {
    expect(destinationOf(`ada.lovelace+x@${domain}`)).toBe(destination);
    expect(domainsOf(destination)).toContain(domain);
  }
});

test("treats any other domain as its own destination, including look-alikes and subdomains", () => {
  for (const domain of ["example.com", "mail.gmail.com", "gmail.com.example", "yahoo.co.jp"]) {
    expect(destinationOf(`ada@${domain}`)).toBe(domain);
    expect(domainsOf(domain)).toEqual([domain]);
  }
});

test("assigns each domain to one provider and has no empty ones", () => {
  const all = ["gmail", "microsoft", "yahoo", "apple", "proton", "gmx", "yandex", "mail.ru"].flatMap(
    domainsOf,
  );
  expect(new Set(all).size).toBe(all.length);
  for (const domain of all) expect(domain).toMatch(/^[a-z0-9-]+(\.[a-z]+)+$/);
});

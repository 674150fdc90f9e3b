// Tests the URLs of projects' transports.
import { expect, test } from "vitest";
import { fillMaskedLogin, maskProjectUrl, parseProjectUrl } from "./url.ts";

const MASK = "••••";
const SMTP = "smtp://apikey:pa%40ss@mail.example:587?requireTls=true";
const SES = "ses://AKIA1:se/cr+et@eu-west-1?configurationSet=events&tenant=shop";

test("reads the credentials of SMTP servers and of SES, also with a slash in the key", () => {
  expect(parseProjectUrl(SMTP)).toMatchObject({
    kind: "smtp",
    server: { user: "apikey", password: "pa@ss" },
  });
  expect(parseProjectUrl(SES)).toEqual({
    kind: "ses",
    server: { region: "eu-west-1", configurationSet: "events", tenant: "shop" },
    key: { accessKeyId: "AKIA1", secretAccessKey: "se/cr+et" },
  });
});

test.each([
  ["http://mail.example", "must begin with smtp://"],
  ["smtp://", "neither a name nor an IP address"],
  ["ses://eu-west-1", "needs an access key"],
  ["ses://AKIA1@eu-west-1", "needs an access key"],
  ["ses://AKIA1:se/cr+et@nowhere", "region"],
  ["smtp://user@mail.example", "password is missing"],
  ["smtp://mail.example?weight=3", "unknown option"],
])("rejects %s without quoting it", (url, reason) => {
  expect(() => parseProjectUrl(url)).toThrow(reason);
  expect(() => parseProjectUrl(url)).not.toThrow("se/cr");
});

test("masks user and password, because some services use their key as the user", () => {
  expect(maskProjectUrl(SMTP, MASK)).toBe("smtp://••••:••••@mail.example:587?requireTls=true");
  expect(maskProjectUrl(SES, MASK)).toBe("ses://••••:••••@eu-west-1?configurationSet=events&tenant=shop");
  expect(maskProjectUrl("smtp://mail.example", MASK)).toBe("smtp://mail.example");
});

test("keeps masked credentials only for the same server", () => {
  const masked = maskProjectUrl(SMTP, MASK);
  expect(fillMaskedLogin(masked, SMTP, MASK)).toBe(SMTP);
  expect(fillMaskedLogin(masked.replace("?requireTls=true", ""), SMTP, MASK)).toBe(
    "smtp://apikey:pa%40ss@mail.example:587",
  );
  expect(fillMaskedLogin(encodeURI(masked), SMTP, MASK)).toBe(SMTP);
  expect(fillMaskedLogin(masked.replace("mail.example", "evil.example"), SMTP, MASK)).toBeNull();
  expect(fillMaskedLogin(masked.replace(":587", ":25"), SMTP, MASK)).toBeNull();
  expect(fillMaskedLogin(masked.replace("smtp:", "smtps:"), SMTP, MASK)).toBeNull();
  expect(fillMaskedLogin(`smtp://${MASK}:new@mail.example:587`, SMTP, MASK)).toBeNull();
  expect(fillMaskedLogin(masked, null, MASK)).toBeNull();
  const maskedSes = maskProjectUrl(SES, MASK);
  expect(fillMaskedLogin(maskedSes.replace("shop", "other"), SES, MASK)).toBe(SES.replace("shop", "other"));
  expect(fillMaskedLogin(`${maskedSes}&endpoint=https://evil.example`, SES, MASK)).toBeNull();
  expect(fillMaskedLogin(SMTP, null, MASK)).toBe(SMTP);
});

// Tests zone files by parsing them according to RFC 1035.
import { expect, test } from "vitest";
import { zoneFileOf, type ZoneRecord } from "./zone-file.ts";

const DOMAIN = "mail.shop.example";
const record = (
  name: string,
  value: string,
  purpose: ZoneRecord["purpose"],
  status: ZoneRecord["status"] = "MISSING",
) => ({ type: "TXT" as const, name, value, purpose, status });

/** Returns the TXT values of a zone file by name, as a name server would read them. */
function read(file: string): Record<string, string> {
  const [origin = "", ...lines] = file.split("\n").filter((line) => line !== "");
  const zone = origin.replace("$ORIGIN ", "");
  return Object.fromEntries(
    lines
      .filter((line) => !line.startsWith(";"))
      .map((line) => {
        const [name = "", , , , value = ""] = line.split("\t");
        const strings = [...value.matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(([, inside = ""]) =>
          Buffer.concat(
            [...inside.matchAll(/\\(\d{3})|\\(.)|(.)/g)].map(([, octet, escaped, plain]) =>
              octet === undefined
                ? Buffer.from(escaped ?? plain ?? "", "latin1")
                : Buffer.from([Number(octet)]),
            ),
          ),
        );
        for (const string of strings) expect(string.length).toBeLessThanOrEqual(255);
        const whole = name === "@" ? zone : name.endsWith(".") ? name : `${name}.${zone}`;
        return [whole, Buffer.concat(strings).toString()];
      }),
  );
}

test("writes names relative to the domain and splits long values into strings of 255 octets", () => {
  const key = `v=DKIM1; k=rsa; p=${"MIIB".repeat(98)}`;
  const file = zoneFileOf(DOMAIN, [
    record(`pl1._domainkey.${DOMAIN}`, key, "dkim"),
    record(DOMAIN, "v=spf1 ?all", "spf"),
    record("_dmarc.shop.example", "v=DMARC1; p=none", "dmarc"),
  ]);
  expect(file).toMatch(/^\$ORIGIN mail\.shop\.example\.\npl1\._domainkey\t300\tIN\tTXT\t"v=DKIM1/);
  expect(file).toMatch(/\n@\t.*\n_dmarc\.shop\.example\.\t.*\n$/);
  expect(read(file)).toEqual({
    [`pl1._domainkey.${DOMAIN}.`]: key,
    [`${DOMAIN}.`]: "v=spf1 ?all",
    "_dmarc.shop.example.": "v=DMARC1; p=none",
  });
});

test("preserves quotes, backslashes and non-ASCII letters, also across strings", () => {
  const value = `"\\;é😀${"ü".repeat(200)}`;
  expect(read(zoneFileOf(DOMAIN, [record(DOMAIN, value, "spf")]))).toEqual({ [`${DOMAIN}.`]: value });
});

test("comments out records that DNS already has and omits the return path", () => {
  const file = zoneFileOf(DOMAIN, [
    record(DOMAIN, "v=spf1 ?all", "spf", "FOUND"),
    record("bounces.host.example", "v=spf1 ?all", "return-path"),
    record(`_dmarc.${DOMAIN}`, "v=DMARC1; p=none", "dmarc", "MISMATCH"),
  ]);
  expect(read(file)).toEqual({ [`_dmarc.${DOMAIN}.`]: "v=DMARC1; p=none" });
  expect(file).toContain("; @\t");
});

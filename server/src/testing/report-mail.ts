// Builds reports as receivers send them, with DMARC in the dialects and packings of the largest senders.
import { crc32, deflateRawSync, gzipSync } from "node:zlib";

export interface ReportedRow {
  ip: string;
  count: number;
  disposition?: string;
  dkim?: "pass" | "fail";
  spf?: "pass" | "fail";
  from?: string;
  signer?: string;
}

export interface Reported {
  org: string;
  id: string;
  domain: string;
  rows: readonly ReportedRow[];
  begin?: number;
  policy?: string;
}

const DAY_SECONDS = 86_400;
export const BEGIN = 1_790_000_000;

/** The element names and the surroundings in one sender's reports. */
interface Dialect {
  head?: string;
  root?: string;
  prefix?: string;
  identifiers?: string;
  /** Within the metadata. */
  more?: string;
  seconds?: (at: number) => string;
  /** Around every text. */
  pad?: string;
  wrap?: (text: string) => string;
  /** Before the metadata. */
  before?: string;
  /** Next to the domain in From. */
  envelope?: string;
  /** Places the results before the identifiers. */
  resultsFirst?: boolean;
  policyMore?: string;
  newline?: string;
}

/** How the reports of the largest senders differ from the schema or from each other. */
const SENDERS: Readonly<Record<string, Dialect>> = {
  google: {
    head: '<?xml version="1.0" encoding="UTF-8" ?>\n',
    more: "<email>noreply@google.example</email>",
  },
  microsoft: {
    head: '<?xml version="1.0"?>\n',
    root: 'feedback xmlns:xsd="http://www.w3.org/2001/XMLSchema" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"',
    before: "<version>1.0</version>",
    policyMore: "<pct>100</pct><fo>0</fo>",
    envelope: "<envelope_to>reader.example</envelope_to><envelope_from>bounces.shop.example</envelope_from>",
    newline: "\r\n",
  },
  yahoo: { head: '<?xml version="1.0"?>\t\n', pad: "\n\t" },
  "mail.ru": { more: "<extra_contact_info>http://help.mail.example</extra_contact_info>", pad: " " },
  amazon: { head: '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>', seconds: (at) => `${at}.000` },
  comcast: { before: "<version>1</version>", policyMore: "<aspf>r</aspf><sp/><pct>100</pct>", newline: "" },
  gmx: {
    head: '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n',
    prefix: "ns0:",
    root: 'ns0:feedback xmlns:ns0="http://dmarc.org/dmarc-xml/0.1"',
  },
  fastmail: {
    head: '<?xml version="1.0" encoding="UTF-8" ?>\n<!-- daily -->\n',
    wrap: (text) => `<![CDATA[${text.replaceAll("&amp;", "&")}]]>`,
    resultsFirst: true,
  },
  mimecast: {
    more: "<extra_contact_info></extra_contact_info><error></error>",
    policyMore: "<sp></sp><fo></fo>",
    envelope: "<envelope_to></envelope_to>",
  },
  zoho: {
    head: '\uFEFF<?xml version="1.0" encoding="utf-8"?>\n',
    pad: "\r\n      ",
    newline: "\r\n",
  },
};

/** The two formats that any of them may use. */
const FORMS: Readonly<Record<string, { attribute: string; more: string; policyMore: string }>> = {
  "RFC 7489": { attribute: "", more: "", policyMore: "" },
  "RFC 9990": {
    attribute: ' xmlns="urn:ietf:params:xml:ns:dmarc-2.0"',
    more: "<generator>Example DMARC Aggregate Reporter v1.2</generator>",
    policyMore: "<np>none</np><discovery_method>treewalk</discovery_method><testing>n</testing>",
  },
};

/** Each sender in each format, followed by variants of single installations. */
export const DIALECTS: Readonly<Record<string, Dialect>> = {
  ...Object.fromEntries(
    Object.entries(SENDERS).flatMap(([sender, dialect]) =>
      Object.entries(FORMS).map(([form, { attribute, more, policyMore }]) => [
        `${sender}, ${form}`,
        {
          ...dialect,
          root: `${dialect.root ?? "feedback"}${attribute}`,
          more: `${dialect.more ?? ""}${more}`,
          policyMore: `${dialect.policyMore ?? ""}${policyMore}`,
        },
      ]),
    ),
  ),
  "capital letters": { root: "Feedback" },
  "old draft": { identifiers: "identities" },
};

export function dmarcXml(reported: Reported, dialect: Dialect = {}): string {
  const { head = "", root = "feedback", prefix = "", identifiers = "identifiers", newline = "\n" } = dialect;
  const { pad = "", seconds = String, more = "", policyMore = "", before = "", envelope = "" } = dialect;
  const { wrap = (text: string) => text, resultsFirst = false } = dialect;
  const tag = (name: string, ...inner: string[]) =>
    `<${prefix}${name}>${inner.join(newline)}</${prefix}${name}>`;
  const leaf = (name: string, text: string | number) => tag(name, `${pad}${wrap(String(text))}${pad}`);
  const begin = reported.begin ?? BEGIN;
  const rows = reported.rows.map((row) => {
    const from = tag(identifiers, envelope, leaf("header_from", row.from ?? reported.domain));
    const results = tag(
      "auth_results",
      ...(row.signer === undefined
        ? []
        : [tag("dkim", leaf("domain", row.signer), leaf("selector", "s1"), leaf("result", "pass"))]),
      tag("dkim", leaf("domain", "broken.example"), leaf("result", "fail"), "<human_result/>"),
      tag("spf", leaf("domain", reported.domain), leaf("result", "pass")),
    );
    return tag(
      "record",
      tag(
        "row",
        leaf("source_ip", row.ip),
        leaf("count", row.count),
        tag(
          "policy_evaluated",
          leaf("disposition", row.disposition ?? "none"),
          leaf("dkim", row.dkim ?? "pass"),
          leaf("spf", row.spf ?? "pass"),
          tag("reason", leaf("type", "local_policy"), leaf("comment", "arc=pass")),
        ),
      ),
      ...(resultsFirst ? [results, from] : [from, results]),
    );
  });
  return [
    `${head}<${root}>`,
    before,
    tag(
      "report_metadata",
      leaf("org_name", reported.org),
      more,
      leaf("report_id", reported.id),
      tag("date_range", leaf("begin", seconds(begin)), leaf("end", seconds(begin + DAY_SECONDS - 1))),
    ),
    tag(
      "policy_published",
      leaf("domain", reported.domain),
      leaf("adkim", "r"),
      leaf("p", reported.policy ?? "none"),
      policyMore,
    ),
    ...rows,
    `</${root.split(" ")[0]}>`,
  ].join(newline);
}

export function tlsJson({
  org,
  id,
  domain,
  successes,
  failures,
}: {
  org: string;
  id: string;
  domain: string;
  successes: number;
  failures: number;
}): string {
  return JSON.stringify({
    "organization-name": org,
    "date-range": { "start-datetime": "2026-11-20T00:00:00Z", "end-datetime": "2026-11-20T23:59:59Z" },
    "contact-info": "tls@example.com",
    "report-id": id,
    policies: [
      {
        policy: { "policy-type": "sts", "policy-domain": domain, "mx-host": [`mx.${domain}`] },
        summary: {
          "total-successful-session-count": successes,
          "total-failure-session-count": failures,
        },
        "failure-details": [
          {
            "result-type": "certificate-expired",
            "failed-session-count": failures,
            "receiving-mx-hostname": `mx.${domain}`,
          },
        ],
      },
    ],
  });
}

export type Packing = "plain" | "gzip" | "zip" | "gzip called octet-stream";

/** Returns a ZIP archive. @param declared the file size in the archive, if it should be wrong */
export function zipOf(name: string, content: Buffer, declared = content.length): Buffer {
  const packed = deflateRawSync(content, { level: 9 });
  const fields = Buffer.alloc(26);
  fields.writeUInt16LE(20, 0);
  fields.writeUInt16LE(8, 4);
  fields.writeUInt32LE(crc32(content), 10);
  fields.writeUInt32LE(packed.length, 14);
  fields.writeUInt32LE(declared, 18);
  fields.writeUInt16LE(name.length, 22);
  const local = Buffer.concat([Buffer.from("PK\u0003\u0004"), fields, Buffer.from(name), packed]);
  const rest = Buffer.alloc(14);
  const central = Buffer.concat([Buffer.from("PK\u0001\u0002\u0014\u0000"), fields, rest, Buffer.from(name)]);
  const end = Buffer.alloc(18);
  end.writeUInt16LE(1, 4);
  end.writeUInt16LE(1, 6);
  end.writeUInt32LE(central.length, 8);
  end.writeUInt32LE(local.length, 12);
  return Buffer.concat([local, central, Buffer.from("PK\u0005\u0006"), end]);
}

const PACKINGS: Readonly<
  Record<Packing, (text: Buffer, kind: string) => { type: string; name: string; bytes: Buffer }>
> = {
  plain: (text, kind) => ({ type: `text/${kind}`, name: `report.${kind}`, bytes: text }),
  gzip: (text, kind) => ({ type: "application/gzip", name: `report.${kind}.gz`, bytes: gzipSync(text) }),
  zip: (text, kind) => ({
    type: "application/zip",
    name: "report.zip",
    bytes: zipOf(`report.${kind}`, text),
  }),
  "gzip called octet-stream": (text, kind) => ({
    type: "application/octet-stream",
    name: `report.${kind}.gz`,
    bytes: gzipSync(text),
  }),
};

/** Returns an email with a report, given as XML or JSON text. */
export function reportMail(text: string | Buffer, packing: Packing, kind: "xml" | "json" = "xml"): Buffer {
  const { type, name, bytes } = PACKINGS[packing](Buffer.from(text), kind);
  return mailWith(type, name, bytes);
}

export function mailWith(type: string, name: string, bytes: Buffer): Buffer {
  return Buffer.from(
    [
      "From: Reports <noreply@reporter.example>",
      "To: dmarc@in.example",
      "Subject: Report domain: shop.example",
      `Message-ID: <${crypto.randomUUID()}@reporter.example>`,
      "MIME-Version: 1.0",
      'Content-Type: multipart/mixed; boundary="b"',
      "",
      "--b",
      "Content-Type: text/plain",
      "",
      "This is an aggregate report.",
      "--b",
      `Content-Type: ${type}; name="${name}"`,
      `Content-Disposition: attachment; filename="${name}"`,
      "Content-Transfer-Encoding: base64",
      "",
      bytes.toString("base64").replaceAll(/.{76}/g, "$&\r\n"),
      "--b--",
      "",
    ].join("\r\n"),
  );
}

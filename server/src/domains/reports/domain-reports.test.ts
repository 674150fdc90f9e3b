// Tests receivers' reports about domains: all dialects and packings, invalid reports and bombs, and that each project sees only its own.
import { gzipSync } from "node:zlib";
import { createTransport } from "nodemailer";
import { expect, test, vi } from "vitest";
import * as deliverability from "@postloft/contract/deliverability.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { transaction } from "../../platform/database/database.ts";
import { newId } from "../../platform/ids.ts";
import { freePort } from "../../testing/free-port.ts";
import {
  BEGIN,
  DIALECTS,
  dmarcXml,
  mailWith,
  reportMail,
  tlsJson,
  zipOf,
  type Packing,
  type ReportedRow,
} from "../../testing/report-mail.ts";
import { faultsOf, useTestServer, type TestProject } from "../../testing/test-server.ts";
import type { ResponseOf } from "../../testing/typed-call.ts";
import { keepDomainReport } from "./domain-reports.ts";
import { OTHER_SOURCES } from "./report.ts";
import { unpackReport } from "./unpack.ts";
import { leastCpuMs } from "../../testing/cpu-timer.ts";

const port = await freePort();
const server = useTestServer({
  ROLES: "api,worker,smtp",
  INBOUND_DOMAIN: "in.example",
  SMTP_PORT: String(port),
});
const WAIT = { timeout: 30_000, interval: 50 };
const PACKINGS: Packing[] = ["plain", "gzip", "zip", "gzip called octet-stream"];

const REPORTED = {
  org: "Receiver & Söhne",
  id: "17.shop.example",
  domain: "shop.example",
  policy: "quarantine",
  rows: [
    { ip: "192.0.2.1", count: 90, signer: "shop.example" },
    {
      ip: "2001:db8::2",
      count: 10,
      dkim: "fail",
      spf: "fail",
      disposition: "quarantine",
      signer: "mailer.example",
    },
  ],
} as const;

test.for(Object.keys(DIALECTS).flatMap((name) => PACKINGS.map((packing) => [name, packing] as const)))(
  "%s, %s: reads the same report",
  async ([name, packing]) => {
    const xml = dmarcXml({ ...REPORTED, org: REPORTED.org.replace("&", "&amp;") }, DIALECTS[name]);
    expect(await unpackReport(reportMail(xml, packing))).toEqual({
      report: {
        kind: "dmarc",
        reporter: REPORTED.org,
        reportId: REPORTED.id,
        domain: "shop.example",
        policy: "quarantine",
        begin: new Date(BEGIN * 1000),
        end: new Date((BEGIN + 86_399) * 1000),
        sources: [
          {
            ip: "192.0.2.1",
            messages: 90,
            disposition: "none",
            dkim: true,
            spf: true,
            headerFrom: "shop.example",
            signers: ["shop.example"],
          },
          {
            ip: "2001:db8::2",
            messages: 10,
            disposition: "quarantine",
            dkim: false,
            spf: false,
            headerFrom: "shop.example",
            signers: ["mailer.example"],
          },
        ],
      },
    });
  },
);

const TLS_CASES = PACKINGS.flatMap((packing) => [[packing, "text"] as const, [packing, "a BOM"] as const]);

test.for(TLS_CASES)("reads a TLS report, %s, that begins with %s", async ([packing, start]) => {
  const said = { org: "Receiver", id: "t1", domain: "shop.example", successes: 90, failures: 10 };
  const json = `${start === "a BOM" ? "\ufeff" : ""}${tlsJson(said)}`;
  expect(await unpackReport(reportMail(json, packing, "json"))).toMatchObject({
    report: {
      kind: "tls",
      reporter: "Receiver",
      policies: [
        {
          domain: "shop.example",
          successes: 90,
          failures: 10,
          details: [{ result: "certificate-expired", count: 10, mx: "mx.shop.example" }],
        },
      ],
    },
  });
});

const BOMB = Buffer.alloc(200_000_000, " ");
const xml = dmarcXml(REPORTED);
/** The XML up to the last `tag`, optionally including it. */
const cutAt = (tag: string, isWith = false) => xml.slice(0, xml.lastIndexOf(tag) + (isWith ? tag.length : 0));
const CUT: Record<string, string> = {
  "before its records": cutAt("</policy_published>", true),
  "between two records": xml.slice(0, xml.indexOf("</record>") + "</record>".length),
  "in a count": cutAt("</count>"),
  "before a policy_evaluated": cutAt("<policy_evaluated>"),
  "in a policy_evaluated": cutAt("<spf>"),
  "behind a row": cutAt("</row>", true),
  "behind its last record": cutAt("</record>", true),
  "in its last tag": cutAt("</feedback>") + "</feedb",
};
const BAD: Record<string, Buffer> = {
  ...Object.fromEntries(
    Object.entries(CUT).map(([where, text]) => [`XML cut ${where}`, reportMail(text, "gzip")]),
  ),
  "a mail without parts": Buffer.from("From: a@example.com\r\n\r\nHello"),
  "no mail at all": Buffer.from([0, 255, 1, 2]),
  nothing: Buffer.alloc(0),
  "a gzip bomb": mailWith("application/gzip", "r.xml.gz", gzipSync(BOMB)),
  "a zip bomb": mailWith("application/zip", "r.zip", zipOf("r.xml", BOMB)),
  "a zip bomb that lies about its size": mailWith("application/zip", "r.zip", zipOf("r.xml", BOMB, 1_000)),
  "a zip that ends early": mailWith(
    "application/zip",
    "r.zip",
    zipOf("r.xml", Buffer.from(xml)).subarray(0, 200),
  ),
  "a gzip that ends early": mailWith("application/gzip", "r.gz", gzipSync(xml).subarray(0, 100)),
  "another XML": reportMail("<rss><channel/></rss>", "gzip"),
  "XML in XML in XML": reportMail("<a>".repeat(1_000_000), "gzip"),
  "entities in entities": reportMail(
    `<!DOCTYPE x [<!ENTITY a "aaaaaaaaaa"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">]>${xml.replaceAll("shop.example", "&b;")}`,
    "gzip",
  ),
  "no time": reportMail(xml.replace(/<date_range>[^]*<\/date_range>/, ""), "gzip"),
  "an end before its beginning": reportMail(xml.replace(`<end>${BEGIN + 86_399}`, "<end>1600000000"), "gzip"),
  "no domain": reportMail(xml.replaceAll("shop.example", "not a domain"), "gzip"),
  "JSON that is none": reportMail('{"organization-name":', "gzip", "json"),
  "JSON of something else": reportMail('{"policies":{"a":1},"date-range":[]}', "gzip", "json"),
  "deep JSON": reportMail(`{"policies":${"[".repeat(100_000)}`, "gzip", "json"),
};

test.for(Object.entries(BAD))("rejects %s quickly and with little memory", async ([, raw]) => {
  const unpack = async () => expect(await unpackReport(raw)).toEqual({ fault: expect.any(String) });
  // Bombs unpack to 200 MB unless they are stopped.
  expect(await leastCpuMs(5_000, unpack)).toBeLessThan(5_000);
});

test("ignores a record without an evaluation", async () => {
  const unjudged = xml.replace(/<policy_evaluated>[^]*?<\/policy_evaluated>/, "");
  expect(await unpackReport(reportMail(unjudged, "gzip"))).toMatchObject({
    report: { sources: [{ ip: "2001:db8::2" }] },
  });
});

const TRAILING: Record<string, Buffer> = {
  "zero bytes": Buffer.alloc(300),
  garbage: Buffer.from("\r\n-- \r\nScanned by a mail gateway"),
  "garbage that begins like gzip": Buffer.from([0x1f, 0x8b, 0x00, 0x01]),
};

test.for(Object.entries(TRAILING))("a gzip file with %s after its end is read", async ([, trailing]) => {
  for (const [text, kind] of [
    [xml, "dmarc"],
    [tlsJson({ org: "R", id: "1", domain: "shop.example", successes: 9, failures: 1 }), "tls"],
  ] as const) {
    const raw = mailWith("application/gzip", "r.gz", Buffer.concat([gzipSync(text), trailing]));
    expect(await unpackReport(raw)).toMatchObject({ report: { kind } });
  }
});

test("reads a gzip file with several members, a name, a comment, extra fields and a checksum", async () => {
  const [first, second] = [gzipSync(xml.slice(0, 200)), gzipSync(xml.slice(200))];
  const header = Buffer.from(first.subarray(0, 10));
  header[3] = 2 | 4 | 8 | 16;
  const more = Buffer.from("\u0003\u0000abcreport.xml\u0000a comment\u0000\u0001\u0002", "latin1");
  const packed = Buffer.concat([header, more, first.subarray(10), second, Buffer.alloc(7)]);
  expect(await unpackReport(mailWith("application/gzip", "r.gz", packed))).toMatchObject({
    report: { kind: "dmarc", reportId: REPORTED.id },
  });
});

const rowsOf = (count: number, more: (at: number) => object = () => ({})) =>
  Array.from({ length: count }, (_, at) => ({ ip: `10.0.${at >> 8}.${at & 255}`, count: 2, ...more(at) }));
const sourcesOf = async (rows: ReportedRow[]) => {
  const unpacked = await unpackReport(reportMail(dmarcXml({ ...REPORTED, rows }), "gzip"));
  return "report" in unpacked && unpacked.report.kind === "dmarc" ? unpacked.report.sources : [];
};

test("counts all 20,000 records of a report and lists the worst thousand sources individually", async () => {
  const rows = rowsOf(20_000, (at) => (at >= 19_000 ? { dkim: "fail", spf: "fail" } : {}));
  const sources = await sourcesOf(rows);
  const listed = sources.filter(({ ip }) => ip !== OTHER_SOURCES);
  expect(listed.map(({ ip, dkim }) => [ip, dkim])).toEqual(rows.slice(19_000).map(({ ip }) => [ip, false]));
  expect(sources.slice(1_000)).toEqual([
    expect.objectContaining({ ip: OTHER_SOURCES, messages: 38_000, dkim: true, headerFrom: "shop.example" }),
  ]);
});

test("merges records of one source with the same result", async () => {
  const rows = rowsOf(3_000).map((row) => ({ ...row, ip: "192.0.2.9" }));
  expect(await sourcesOf(rows)).toMatchObject([{ ip: "192.0.2.9", messages: 6_000 }]);
});

test("rejects a report with more sender domains than can be counted", async () => {
  const rows = rowsOf(2_500, (at) => ({ from: `d${at}.shop.example` }));
  expect(await unpackReport(reportMail(dmarcXml({ ...REPORTED, rows }), "gzip"))).toEqual({
    fault: expect.any(String),
  });
});

async function makeDomain(project: TestProject, domain: string, status = "VERIFIED"): Promise<void> {
  await server.rows(
    `insert into domains (project_id, id, domain, status, dkim_selector, dkim_public_key, dkim_private_key, last_checked_at)
     values ($1, $2, $3, $4, 's', 'k', '', now())`,
    project.id,
    newId(),
    domain,
    status,
  );
}

async function mail(raw: Buffer, to = "dmarc@in.example"): Promise<void> {
  const client = createTransport({ host: "127.0.0.1", port, ignoreTLS: true });
  await client.sendMail({ envelope: { from: "noreply@reporter.example", to }, raw });
}

type Room = ResponseOf<typeof deliverability.getDeliverability>;
const room = async (project: TestProject, query = "") =>
  (await server.call(deliverability.getDeliverability, project.byKey, { anyQuery: query })).body;
const adviceIn = (domain: Room["domains"][number] | undefined) =>
  domain?.advice.map(({ text }) => text).join(" ");
const results = async () =>
  (await server.rows<{ result: string }>("select result from notices where result is not null")).map(
    ({ result }) => result,
  );

test("stores an emailed report once for the project with the verified domain, with advice", async () => {
  const [project, other] = [await server.createProject(), await server.createProject()];
  await makeDomain(project, "shop.example");
  await makeDomain(project, "news.shop.example");
  await makeDomain(other, "other.example");
  await makeDomain(other, "pending.example", "PENDING");
  const today = Math.floor(Date.now() / 1000) - 90_000;
  expect(adviceIn((await room(project)).domains[0])).toContain("rua=mailto:dmarc@in.example");
  const rows = [
    ...REPORTED.rows,
    // The parent's policy also applies to the child.
    { ip: "192.0.2.7", count: 5, from: "news.shop.example", signer: "news.shop.example" },
    { ip: "192.0.2.8", count: 3, from: "else.shop.example" },
  ];
  const report = dmarcXml({ ...REPORTED, rows, begin: today });
  await mail(reportMail(report, "gzip"));
  await vi.waitFor(async () => expect(await results()).toContain("dmarc report"), WAIT);
  // The same report under another Message-ID.
  await mail(reportMail(report, "zip"), "DMARC@in.example");
  await vi.waitFor(async () => expect(await results()).toContain("dmarc report: known"), WAIT);
  await mail(
    reportMail(
      tlsJson({ org: "R", id: "1", domain: "shop.example", successes: 90, failures: 10 }),
      "gzip",
      "json",
    ),
    "tlsrpt@in.example",
  );
  await vi.waitFor(async () => expect(await results()).toContain("tls report"), WAIT);
  await mail(reportMail(dmarcXml({ ...REPORTED, domain: "pending.example", rows: [] }), "gzip"));
  await vi.waitFor(async () => expect(await results()).toContain("dmarc report: of no domain here"), WAIT);
  await mail(mailWith("application/gzip", "r.gz", Buffer.from("no gzip")));
  await vi.waitFor(
    async () => expect((await results()).some((result) => result.startsWith("ignored: "))).toBe(true),
    WAIT,
  );

  const { domains, reportAddress } = await room(project);
  expect(reportAddress).toBe("dmarc@in.example");
  const shop = domains.find(({ domain }) => domain === "shop.example");
  expect(shop?.dmarc).toMatchObject({
    reports: 1,
    policy: "quarantine",
    messages: 100,
    aligned: 90,
    quarantined: 10,
  });
  expect(shop?.dmarc.sources).toEqual([
    { ip: "2001:db8::2", messages: 10, aligned: 0, signers: ["mailer.example"] },
    { ip: "192.0.2.1", messages: 90, aligned: 90, signers: ["shop.example"] },
  ]);
  expect(shop?.dmarc.reporters).toEqual([{ reporter: "Receiver & Söhne", messages: 100 }]);
  expect(shop?.tls).toMatchObject({
    successes: 90,
    failures: 10,
    causes: [{ result: "certificate-expired", count: 10 }],
  });
  expect(adviceIn(shop)).toMatch(/10% .* 2001:db8::2 \(signed by mailer.example\)/);
  expect(adviceIn(shop)).toContain("failed at TLS");
  const news = domains.find(({ domain }) => domain === "news.shop.example");
  expect(news?.dmarc).toMatchObject({ reports: 1, messages: 5, aligned: 5 });
  expect(JSON.stringify(await room(other))).not.toContain("192.0.2");
  expect(JSON.stringify(domains)).not.toContain("192.0.2.8");
});

test("counts a large report in full and limits the reports of a domain per day", async () => {
  const project = await server.createProject();
  await makeDomain(project, "large.example");
  const begin = Math.floor(Date.now() / 1000) - 90_000;
  const keep = async (id: string, rows: ReportedRow[]) => {
    const input = { ...REPORTED, id, domain: "large.example", begin, rows };
    const unpacked = await unpackReport(reportMail(dmarcXml(input), "gzip"));
    if (!("report" in unpacked)) throw new Error(unpacked.fault);
    return transaction(server.database, (tx) => keepDomainReport(tx, unpacked.report));
  };
  const rows = rowsOf(1_500, (at) => (at < 3 ? { dkim: "fail", spf: "fail" } : {}));
  expect(await keep("1", rows)).toBe("dmarc report");
  const dmarc = (await room(project)).domains[0]?.dmarc;
  expect(dmarc).toMatchObject({ messages: 3_000, aligned: 2_994 });
  expect(dmarc?.reporters).toEqual([{ reporter: "Receiver & Söhne", messages: 3_000 }]);
  expect(dmarc?.sources.slice(0, 3).map(({ aligned }) => aligned)).toEqual([0, 0, 0]);
  expect(dmarc?.sources.map(({ ip }) => ip)).not.toContain(OTHER_SOURCES);
  await server.rows(
    `insert into dmarc_reports (project_id, id, domain, reporter, report_id, begins_at, ends_at)
     select $1, gen_random_uuid(), 'large.example', 'flood', n::text, now(), now() from generate_series(2, $2) n`,
    project.id,
    LIMITS.domainReportsADay.value,
  );
  expect(await keep("2", rows.slice(0, 1))).toBe("dmarc report: over the limit of its domain");
});

test("limits the requested number of days", async () => {
  for (const days of ["0", String(LIMITS.domainReportDays.value + 1), "many"]) {
    const reply = await server.call(deliverability.getDeliverability, server.project.byKey, {
      query: { days },
    });
    expect([reply.status, faultsOf(reply).length]).toEqual([422, 1]);
  }
});

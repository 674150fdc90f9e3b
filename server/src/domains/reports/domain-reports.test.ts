// What receivers report of domains: every dialect and packing is read right, what is none or a bomb is refused, and each project sees
// what its own domain sent.
import { gzipSync } from "node:zlib";
import { createTransport } from "nodemailer";
import { expect, test, vi } from "vitest";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
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
} from "../../testing/report-mail.ts";
import { faultsOf, useTestServer, type TestProject } from "../../testing/test-server.ts";
import { unpackReport } from "./unpack.ts";
import { startCpuTimer } from "../../testing/cpu-timer.ts";

const port = await freePort();
const server = useTestServer({
  ROLES: "api,worker,smtp",
  INBOUND_DOMAIN: "in.example",
  SMTP_PORT: String(port),
});
const WAIT = { timeout: 20_000, interval: 50 };
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
  "%s, %s: says the same",
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

test.for(TLS_CASES)("a TLS report, %s, that begins with %s", async ([packing, start]) => {
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
/** As much of it as stands before the last `tag`, or with it. */
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

test.for(Object.entries(BAD))("%s is refused, in little time and memory", async ([, raw]) => {
  const cpuMs = startCpuTimer();
  expect(await unpackReport(raw)).toEqual({ fault: expect.any(String) });
  // Bombs unpack to 200 MB where nobody stops them.
  expect(cpuMs()).toBeLessThan(5_000);
});

test("a record that does not say how it was judged counts nowhere", async () => {
  const unjudged = xml.replace(/<policy_evaluated>[^]*?<\/policy_evaluated>/, "");
  expect(await unpackReport(reportMail(unjudged, "gzip"))).toMatchObject({
    report: { sources: [{ ip: "2001:db8::2" }] },
  });
});

test("of a report with 20,000 records the first thousand are read", async () => {
  const rows = Array.from({ length: 20_000 }, (_, at) => ({ ip: `10.0.${at >> 8}.${at & 255}`, count: 1 }));
  const unpacked = await unpackReport(reportMail(dmarcXml({ ...REPORTED, rows }), "gzip"));
  expect("report" in unpacked && unpacked.report.kind === "dmarc" && unpacked.report.sources.length).toBe(
    1_000,
  );
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

interface Room {
  reportAddress: string | null;
  domains: Array<{
    domain: string;
    dmarc: {
      reports: number;
      policy: string | null;
      messages: number;
      aligned: number;
      quarantined: number;
      sources: Array<{ ip: string; messages: number; aligned: number; signers: string[] }>;
      reporters: unknown[];
    };
    tls: { successes: number; failures: number; causes: unknown[] };
    advice: Array<{ text: string }>;
  }>;
}
const room = async (project: TestProject, query = "") =>
  (await server.call<Room>("GET", `/deliverability${query}`, project.byKey)).body;
const adviceIn = (domain: Room["domains"][number] | undefined) =>
  domain?.advice.map(({ text }) => text).join(" ");
const results = async () =>
  (await server.rows<{ result: string }>("select result from notices where result is not null")).map(
    ({ result }) => result,
  );

test("a report that comes by mail is kept once for the project whose verified domain it is about, and says what to do", async () => {
  const [project, other] = [await server.createProject(), await server.createProject()];
  await makeDomain(project, "shop.example");
  await makeDomain(project, "news.shop.example");
  await makeDomain(other, "other.example");
  await makeDomain(other, "pending.example", "PENDING");
  const today = Math.floor(Date.now() / 1000) - 90_000;
  expect(adviceIn((await room(project)).domains[0])).toContain("rua=mailto:dmarc@in.example");
  const rows = [
    ...REPORTED.rows,
    // The policy of the parent is that of the child, too.
    { ip: "192.0.2.7", count: 5, from: "news.shop.example", signer: "news.shop.example" },
    { ip: "192.0.2.8", count: 3, from: "else.shop.example" },
  ];
  const report = dmarcXml({ ...REPORTED, rows, begin: today });
  await mail(reportMail(report, "gzip"));
  await vi.waitFor(async () => expect(await results()).toContain("dmarc report"), WAIT);
  // A second time, under another Message-ID.
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
  expect(adviceIn(shop)).toMatch(/10 % .* 2001:db8::2 \(signed by mailer.example\)/);
  expect(adviceIn(shop)).toContain("failed at TLS");
  const news = domains.find(({ domain }) => domain === "news.shop.example");
  expect(news?.dmarc).toMatchObject({ reports: 1, messages: 5, aligned: 5 });
  expect(JSON.stringify(await room(other))).not.toContain("192.0.2");
  expect(JSON.stringify(domains)).not.toContain("192.0.2.8");
});

test("days are asked for within bounds", async () => {
  for (const days of ["0", String(LIMITS.domainReportDays.value + 1), "many"]) {
    const reply = await server.call("GET", `/deliverability?days=${days}`, server.project.byKey);
    expect([reply.status, faultsOf(reply).length]).toEqual([422, 1]);
  }
});

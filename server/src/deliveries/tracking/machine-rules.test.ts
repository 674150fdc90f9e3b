// Each sign of a machine by an example, beside a person who is nearly the same.
import { expect, test } from "vitest";
import { MACHINE_SIGNS, machineSignOf, type Visit } from "./machine-rules.ts";

const CHROME =
  "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36";
const GMAIL = "Mozilla/5.0 (Windows NT 5.1; rv:11.0) Gecko Firefox/11.0 (via ggpht.com GoogleImageProxy)";
const PERSON: Visit = {
  kind: "click",
  userAgent: CHROME,
  purpose: "",
  msAfterSending: 60_000,
  isInBurst: false,
};
const agent = (userAgent: string, kind: Visit["kind"] = "click"): Partial<Visit> => ({ userAgent, kind });

/** By the name of the sign: machines that have it and no other, and people who have not. */
const EXAMPLES: Readonly<Record<string, { machines: Array<Partial<Visit>>; people: Array<Partial<Visit>> }>> =
  {
    "no user agent": { machines: [agent(""), agent(" ", "open")], people: [agent("Mozilla/5.0")] },
    "Apple's privacy proxy": {
      machines: [{ kind: "open", userAgent: "Mozilla/5.0", msAfterSending: 86_400_000 }],
      people: [agent("Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7) AppleWebKit/605.1.15", "open")],
    },
    "Gmail's proxy, as the mail comes in": {
      machines: [{ kind: "open", userAgent: GMAIL, msAfterSending: 4_999 }],
      people: [{ kind: "open", userAgent: GMAIL, msAfterSending: 5_000 }],
    },
    "a click as the mail comes in": {
      machines: [{ msAfterSending: 0 }, { msAfterSending: 4_999 }, { msAfterSending: -50 }],
      people: [{ msAfterSending: 5_000 }, { kind: "open", msAfterSending: 0 }],
    },
    "several links at once": { machines: [{ isInBurst: true }], people: [{ isInBurst: false }] },
    prefetching: {
      machines: [{ purpose: "prefetch;prerender" }, { purpose: "preview", kind: "open" }],
      people: [{ purpose: "navigate" }],
    },
    "Microsoft's link checks": {
      machines: [
        agent("Mozilla/5.0 (Windows NT 6.1; WOW64) AppleWebKit/534+ (KHTML, like Gecko) BingPreview/1.0b"),
        agent("Mozilla/5.0 (Windows NT 6.1; WOW64) SkypeUriPreview Preview/0.5"),
        agent("Microsoft Office Existence Discovery"),
      ],
      people: [
        agent(
          "Mozilla/4.0 (compatible; MSIE 7.0; Windows NT 10.0; Trident/7.0; Microsoft Outlook 16.0; ms-office)",
          "open",
        ),
        agent("Microsoft Office/16.0 (Windows NT 10.0; Microsoft Outlook 16.0.17029; Pro)", "open"),
      ],
    },
    "mail filters": {
      machines: [
        agent("Barracuda Sentinel (EE)"),
        agent("Mozilla/5.0 (compatible; Mimecast)"),
        agent("ProofPoint URL Defense"),
      ],
      people: [agent("Mozilla/5.0 (X11; Linux x64; rv:140.0) Gecko/20100101 Thunderbird/140.0")],
    },
    "link scanners": {
      machines: [agent("urlscan.io"), agent("Mozilla/5.0 (compatible; Link Checker)"), agent("Virustotal")],
      people: [
        agent("Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Version/18.0 Mobile Safari/604.1"),
      ],
    },
    "previews in chats": {
      machines: [
        agent("Slackbot-LinkExpanding 1.0"),
        agent("WhatsApp/2.24"),
        agent("facebookexternalhit/1.1"),
      ],
      people: [
        agent("Mozilla/5.0 (Linux; Android 14) Chrome/142.0 Mobile Safari/537.36 [FB_IAB/FB4A;FBAV/480.0]"),
      ],
    },
    crawlers: {
      machines: [
        agent("Mozilla/5.0 (compatible; Googlebot/2.1)"),
        agent("SomeCrawler"),
        agent("Yahoo! Slurp"),
        agent("a spider"),
      ],
      people: [
        agent("Mozilla/5.0 (Linux; Android 9; CUBOT X19) Chrome/90.0 Mobile Safari/537.36"),
        agent("Robotics Browser/1"),
      ],
    },
    programs: {
      machines: [
        agent("curl/8.5.0"),
        agent("python-requests/2.32"),
        agent("Go-http-client/2.0"),
        agent("node"),
      ],
      people: [agent("Mozilla/5.0 (curlew)"), agent("Nodebrowser/1.0")],
    },
    "browsers without a screen": {
      machines: [agent("Mozilla/5.0 (X11; Linux x86_64) HeadlessChrome/142.0.0.0 Safari/537.36")],
      people: [agent("Mozilla/5.0 (X11; Linux x86_64) Chrome/142.0.0.0 Safari/537.36")],
    },
  };

test.each(MACHINE_SIGNS.map((sign) => [sign.name, sign] as const))("a machine: %s", (name, sign) => {
  const { machines = [], people = [] } = EXAMPLES[name] ?? {};
  expect(machines.map((visit) => machineSignOf({ ...PERSON, ...visit }))).toEqual(machines.map(() => sign));
  expect(people.map((visit) => machineSignOf({ ...PERSON, ...visit }))).toEqual(people.map(() => null));
  expect(machines.length * people.length).toBeGreaterThan(0);
});

test("every example belongs to a sign", () => {
  expect(Object.keys(EXAMPLES)).toEqual(MACHINE_SIGNS.map(({ name }) => name));
});

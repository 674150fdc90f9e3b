// Creates varied messages for tests, which real programs could have written. The same number creates the same message.

type Pick = <Item>(items: readonly [Item, ...Item[]]) => Item;

/** Returns a function that chooses items, always the same for one seed (mulberry32). */
function picker(seed: number): Pick {
  let state = seed;
  return (items) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return items[((mixed ^ (mixed >>> 14)) >>> 0) % items.length] ?? items[0];
  };
}

const crlf = (...lines: string[]) => lines.map((line) => `${line}\r\n`).join("");

const TEXTS = [
  "Hello",
  "",
  ".",
  "..\r\n.a\r\n.",
  "trailing   \r\n\tand\t tabs\t\r\n   ",
  "-- \r\nsignature",
  "From me\r\n>From you",
  "x".repeat(2_000),
  "\r\n\r\n\r\nlate\r\n\r\n\r\n",
  "{{firstName}} {{#if x}}",
  "Grüße, 日本語, \u{1F600}\u00A0",
] as const;
const QUOTED = [
  "a=\r\nb=20\r\n=C3=BC=\r\n=0D=0A=\r\n",
  "=2E\r\n=\r\n.\r\n",
  "line=20=\r\n  \r\n=3D=3D",
  "soft=  \r\nbreak",
] as const;
const BASE64 = ["SGVsbG8=", "SGVs\r\n bG8=\r\n", "", `${"QUJD".repeat(19)}\r\n`.repeat(30)] as const;
const CALENDAR = crlf(
  "BEGIN:VCALENDAR",
  "METHOD:REQUEST",
  "BEGIN:VEVENT",
  "SUMMARY:Lunch\\, at",
  "  noon",
  "END:VEVENT",
  "END:VCALENDAR",
);

function leaf(pick: Pick): string {
  const kind = pick(["plain", "html", "quoted", "calendar", "image", "file", "rfc822"] as const);
  switch (kind) {
    case "plain":
      return crlf(
        "Content-Type: text/plain; charset=utf-8",
        "Content-Transfer-Encoding: 8bit",
        "",
        pick(TEXTS),
      );
    case "html":
      return crlf(
        "content-type:text/html;charset=UTF-8",
        "",
        `<p>${pick(TEXTS)}</p><a href="https://x.example/">x</a>`,
      );
    case "quoted":
      return crlf(
        "Content-Type: text/plain",
        "Content-Transfer-Encoding: QUOTED-PRINTABLE",
        "",
        pick(QUOTED),
      );
    case "calendar":
      return crlf("Content-Type: text/calendar; method=REQUEST;\r\n\tcharset=utf-8", "", CALENDAR);
    case "image":
      return crlf(
        "Content-Type: image/png",
        "Content-ID: <logo@x>",
        "Content-Disposition: inline",
        "Content-Transfer-Encoding: base64",
        "",
        pick(BASE64),
      );
    case "file":
      return crlf(
        "Content-Type: application/pdf; name*0*=utf-8''gr%C3%BC; name*1=sse.pdf",
        "Content-Disposition: attachment",
        "Content-Transfer-Encoding: base64",
        "",
        pick(BASE64),
      );
    case "rfc822":
      return crlf(
        "Content-Type: message/rfc822",
        "",
        "From: inner@x.example",
        "Bcc: kept@x.example",
        "",
        pick(TEXTS),
      );
  }
}

function entity(pick: Pick, depth: number): string {
  if (depth === 0 || pick([true, false, false])) return leaf(pick);
  const boundary = pick(["b", "----=_Part_1.2", "a b'()+_,-./:=?", "x".repeat(69)] as const) + depth;
  const subtype = pick([
    "alternative",
    "related",
    "mixed",
    'signed; protocol="application/pgp-signature"',
  ] as const);
  const parts = Array.from(
    { length: pick([1, 2, 3] as const) },
    () => `--${boundary}\r\n${entity(pick, depth - 1)}`,
  );
  const preamble = pick(["", "This is a multi-part message in MIME format.\r\n", "\r\n"] as const);
  const epilogue = pick(["", "epilogue\r\n", "\r\n\r\n"] as const);
  const type = pick([
    `Content-Type: multipart/${subtype};\r\n boundary="${boundary}"`,
    `CONTENT-TYPE: multipart/${subtype}; boundary="${boundary}"`,
  ] as const);
  return `${type}\r\n\r\n${preamble}${parts.join("")}--${boundary}--\r\n${epilogue}`;
}

export interface CorpusMessage {
  /** As the program writes it, with fields that do not reach the recipient. */
  sent: Buffer;
  /** As the recipient must get it, except for the fields in front. */
  kept: Buffer;
}

/** Returns message `number`, from a sender and with a Message-ID at their domain. */
export function corpusMessage(number: number, from: string): CorpusMessage {
  const pick = picker(number);
  const removed = [
    "Bcc: secret@x.example,\r\n other@x.example",
    "Return-Path: <x@y.example>",
    "X-Postloft-Tags: a",
  ];
  const kept = [
    pick([
      `From: ${from}`,
      `From: "App, Inc." <${from}>`,
      `from:=?utf-8?q?Gr=C3=BC=C3=9Fe?=\r\n <${from}>`,
      `From : App <${from}>`,
    ] as const),
    pick([
      "To: ada@example.com",
      "To: undisclosed-recipients:;",
      'TO: "A, B" <a@x.example>,\r\n\t=?utf-8?b?w7w=?= <b@x.example>',
    ] as const),
    pick([
      "Subject: Hello",
      "Subject:",
      "Subject: =?utf-8?q?a_=C3=BC?=\r\n =?utf-8?q?_b?=",
      `Subject: ${"long word ".repeat(80)}`,
      "Subject:  two  spaces\t",
    ] as const),
    `Message-ID: <${number}@${from.split("@")[1]}>`,
    pick(["Date: Fri, 21 Nov 2025 03:27:00 +0000", "Date: Fri, 21 Nov 25 03:27 GMT (comment)"] as const),
    pick(["MIME-Version: 1.0", "Mime-Version: 1.0 (Apple Message framework)"] as const),
    pick([
      "X-Empty:",
      `References: ${"<some.long.reference@mail.example>\r\n ".repeat(40)}<last@x>`,
      "X-Folded: a\r\n\tb\r\n  c",
      "List-Unsubscribe: <mailto:u@x.example>",
    ] as const),
  ];
  const [fields = "", body = ""] = splitOnce(entity(pick, 3));
  const place = number % kept.length;
  const withRemoved = [...kept.slice(0, place), ...removed, ...kept.slice(place)];
  const message = (header: readonly string[]) => Buffer.from(`${crlf(...header)}${fields}\r\n${body}`);
  return { sent: message(withRemoved), kept: message(kept) };
}

/** Returns the fields of an entity with their line ends, and the body. */
function splitOnce(text: string): [string, string] {
  const end = text.indexOf("\r\n\r\n");
  return [text.slice(0, end + 2), text.slice(end + 4)];
}

// Tests the parts of an SMTP URL, and that no error shows a password.
import { expect, test } from "vitest";
import { parseSmtpUrl, type SmtpServer } from "./smtp-url.ts";

const good: Record<string, SmtpServer> = {
  "smtp://mail.test": { host: "mail.test", port: 587, secure: false },
  "smtp://mail.test:25/": { host: "mail.test", port: 25, secure: false },
  "SMTP://mail.test:2525": { host: "mail.test", port: 2525, secure: false },
  "smtps://mail.test": { host: "mail.test", port: 465, secure: true },
  "smtps://mail.test:1465": { host: "mail.test", port: 1465, secure: true },
  "smtp://mail.test:465": { host: "mail.test", port: 465, secure: true },
  "smtp://[::1]:25": { host: "::1", port: 25, secure: false },
  "smtp://127.0.0.1:25": { host: "127.0.0.1", port: 25, secure: false },
  "smtp://localhost:25": { host: "localhost", port: 25, secure: false },
  "smtp://bob:secret@mail.test": {
    host: "mail.test",
    port: 587,
    secure: false,
    user: "bob",
    password: "secret",
  },
  "smtp://bob%40x.test:p%40%3A%2F%3F%23%25%20%C3%A4@mail.test": {
    host: "mail.test",
    port: 587,
    secure: false,
    user: "bob@x.test",
    password: "p@:/?#% ä",
  },
  "smtp://bob:se:cr@et@mail.test": {
    host: "mail.test",
    port: 587,
    secure: false,
    user: "bob",
    password: "se:cr@et",
  },
  "smtp://mail.test?requireTls=true&rejectUnauthorized=false&connections=20": {
    host: "mail.test",
    port: 587,
    secure: false,
    requireTls: true,
    rejectUnauthorized: false,
    connections: 20,
  },
  "smtp://mail.test?requireTls=false": { host: "mail.test", port: 587, secure: false, requireTls: false },
};
for (const [text, server] of Object.entries(good))
  test(`parses ${text}`, () => {
    expect(parseSmtpUrl(text)).toEqual(server);
  });

const bad: Record<string, string> = {
  "": "not a URL",
  "mail.test:25": "smtp://",
  "http://bob:SECRET@mail.test": "smtp://",
  "smtp://": "host",
  "smtp://bob:SECRET@": "not a URL",
  "smtp://bob:SECRET@mail.test:port": "not a URL",
  "smtp://bob:SECRET@mail.test:70000": "not a URL",
  "smtp://bob:SECRET@mail.test:0": "port is 0",
  "smtp://bob:SECRET@mail..test": "host",
  "smtp://bob:SECRET@mail%0d%0a.test": "host",
  "smtp://bob:SECRET/more@mail.test": "not a URL",
  "smtp://bob:12/SECRET@mail.test": "percent-encode",
  "smtp://bob:12#SECRET@mail.test": "percent-encode",
  "smtp://bob:12?SECRET@mail.test": "unknown option",
  "smtp://bob@mail.test": "user or the password is missing",
  "smtp://:SECRET@mail.test": "user or the password is missing",
  "smtp://bob:SECRET%@mail.test": "%25",
  "smtp://bob:SECRET%zz@mail.test": "%25",
  "smtp://bob:SECRET%ff@mail.test": "%25",
  "smtp://bob:SECRET%00@mail.test": "control character",
  "smtp://bob:SECRET%0A@mail.test": "control character",
  "smtp://bob:SECRET @mail.test": "space",
  "smtp://bob:SECRET@mail.test\n": "space",
  "smtp://bob:SECRET@mail.test/path": "only options",
  "smtp://bob:SECRET@mail.test?requireTLS=true": "unknown option",
  "smtp://bob:SECRET@mail.test?requireTls=yes": "true or false",
  "smtp://bob:SECRET@mail.test?requireTls=true&requireTls=false": "twice",
  "smtp://bob:SECRET@mail.test?connections=0": "from 1 to 200",
  "smtp://bob:SECRET@mail.test?connections=201": "from 1 to 200",
  "smtp://bob:SECRET@mail.test?connections=1e1": "from 1 to 200",
};
for (const [text, reason] of Object.entries(bad))
  test(`rejects ${JSON.stringify(text)} without showing the password`, () => {
    const error = catchError(() => parseSmtpUrl(text));
    expect(error.message).toContain(reason);
    expect(Object.keys(error)).toEqual([]);
    expect(`${error.stack} ${String(error.cause)}`).not.toContain("SECRET");
  });

function catchError(action: () => unknown): Error {
  try {
    action();
  } catch (error) {
    if (error instanceof Error) return error;
  }
  throw new Error("expected an error");
}

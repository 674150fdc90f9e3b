// Tests that all invalid settings are reported together, by name and without their values.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { ConfigError, readConfig } from "./config.ts";

test.each([
  ["PORT", "abc", "must be a whole number from 0 to 65535"],
  ["PORT", "70000", "must be a whole number from 0 to 65535"],
  ["PORT", "1e3", "must be a whole number from 0 to 65535"],
  ["API_RATE_LIMIT_PER_MINUTE", "-1", "must be a whole number from 0 up"],
  ["BASE_URL", "mail.example.com", "must be an address such as https://mail.example.com"],
  ["BASE_URL", "ftp://mail.example.com", "must be an address such as https://mail.example.com"],
  ["BASE_URL", "https://example.com/mail", "must have no path; give Postloft its own host name"],
  ["BASE_URL", "https://example.com/?a=b", "must have no path"],
  ["ROLES", "api,sender", "must be words out of api, worker, smtp"],
  ["ROLES", ",", "must be words out of api, worker, smtp"],
  ["LOG_LEVEL", "loud", "must be one of debug, info, warn, error, silent"],
  ["LOG_FORMAT", "xml", "must be one of json, pretty"],
  ["DISABLE_SIGNUPS", "yes", "must be true or false"],
  ["APP_SECRET", "hunter2", "must have at least 16 characters"],
  ["SMTP_NAME", "a b", "must be a host name such as mail.example.com, or an address in brackets"],
])("%s=%s: %s", (name, value, reported) => {
  expect(() => readConfig({ [name]: value })).toThrow(
    `These settings are not valid:\n  ${name}: ${reported}`,
  );
  expect(() => readConfig({ [name]: value })).toThrow(ConfigError);
});

test("reports all invalid settings together, including those that one part of the program finds", () => {
  const faulty = { PORT: "abc", LOG_LEVEL: "loud", DATABASE_URL: "postgres://user:hunter2@db/x" };
  const read = () => readConfig(faulty, [({ HOST }) => [`HOST: ${HOST} is not wanted`]]);
  expect(read).toThrow(
    /^These settings are not valid:\n  PORT: .*\n  LOG_LEVEL: .*\n  APP_SECRET: required.*\n  HOST: 127/,
  );
  expect(read).not.toThrow(/hunter2/);
});

test("treats an empty variable as unset", () => {
  expect(readConfig({ PORT: " ", LOG_LEVEL: "" })).toEqual(readConfig({}));
});

const folder = mkdtempSync(join(tmpdir(), "postloft-settings-"));
afterAll(() => rmSync(folder, { recursive: true }));

function fileWith(text: string): string {
  const path = join(folder, `${text.length}`);
  writeFileSync(path, text);
  return path;
}

test("reads a setting from a file, as containers provide secrets", () => {
  const read = readConfig({
    DATABASE_URL: "postgres://db/x",
    APP_SECRET_FILE: fileWith("a secret of a container\n"),
  });
  expect(read.APP_SECRET).toBe("a secret of a container");
});

test.each([
  [
    { APP_SECRET: "a secret of sixteen", APP_SECRET_FILE: "/x" },
    "APP_SECRET_FILE: APP_SECRET is set too; leave one of them out",
  ],
  [
    { APP_SECRET_FILE: "/nowhere/at/all" },
    "APP_SECRET_FILE: the file /nowhere/at/all cannot be read (ENOENT)",
  ],
  [{ APP_SECRET_FILE: fileWith("") }, `APP_SECRET_FILE: the file ${join(folder, "0")} is empty`],
  [{ APP_SECRET_FILE: fileWith("hunter2") }, "APP_SECRET: must have at least 16 characters"],
])("reports a file that is missing, empty or invalid: %j", (environment, reported) => {
  expect(() => readConfig(environment)).toThrow(`These settings are not valid:\n  ${reported}`);
});

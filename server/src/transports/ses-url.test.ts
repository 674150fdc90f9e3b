// Tests the setting `ses://…`, and that faulty ones are rejected without quoting the input.
import { expect, test } from "vitest";
import { parseSesUrl } from "./ses-url.ts";

test.each([
  ["ses://eu-west-1", { region: "eu-west-1" }],
  ["ses://us-gov-west-1/", { region: "us-gov-west-1" }],
  [
    "ses://us-east-1?configurationSet=my_events-1&connections=20",
    { region: "us-east-1", configurationSet: "my_events-1", connections: 20 },
  ],
  [
    "ses://eu-west-1?endpoint=http://127.0.0.1:1234",
    { region: "eu-west-1", endpoint: "http://127.0.0.1:1234" },
  ],
  [
    "ses://eu-west-1?endpoint=https%3A%2F%2Fses.example.com%2F",
    { region: "eu-west-1", endpoint: "https://ses.example.com" },
  ],
])("parses %s", (text, server) => {
  expect(parseSesUrl(text)).toEqual(server);
});

test.each([
  ["ses:", "region"],
  ["ses://", "region"],
  ["smtp://eu-west-1", "must begin with ses://"],
  ["ses://s3cret", "region"],
  ["ses://AKID:s3cret@eu-west-1", "SES_ACCESS_KEY_ID"],
  ["ses://eu-west-1:443", "only options"],
  ["ses://eu-west-1/s3cret", "only options"],
  ["ses://eu-west-1#s3cret", "only options"],
  ["ses://eu-west-1?s3cret=1", "unknown option"],
  ["ses://eu-west-1?connections=1&connections=2", "set twice"],
  ["ses://eu-west-1?connections=0", "from 1 to 200"],
  ["ses://eu-west-1?connections=201", "from 1 to 200"],
  ["ses://eu-west-1?connections=1e2", "from 1 to 200"],
  ["ses://eu-west-1?configurationSet=", "configurationSet"],
  ["ses://eu-west-1?configurationSet=s3cret%20", "configurationSet"],
  ["ses://eu-west-1?endpoint=s3cret", "endpoint"],
  ["ses://eu-west-1?endpoint=ftp://s3cret", "endpoint"],
  ["ses://eu-west-1?endpoint=http://bob:s3cret@host", "endpoint"],
  ["ses://eu-west-1?endpoint=http://host/s3cret", "endpoint"],
])("rejects %s with the reason", (text, reason) => {
  expect(() => parseSesUrl(text)).toThrow(reason);
  expect(() => parseSesUrl(text)).not.toThrow("s3cret");
});

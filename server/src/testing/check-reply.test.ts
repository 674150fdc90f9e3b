// Tests the faults that are reported for responses that violate the contract.
import { expect, test } from "vitest";
import { replyFaults, type ReplyToCheck } from "./check-reply.ts";

const JSON_TYPE = "application/json; charset=utf-8";

function faults(method: string, path: string, reply: Partial<ReplyToCheck>): string[] {
  const text = reply.body === undefined ? "" : JSON.stringify(reply.body);
  return replyFaults({ method, path, status: 200, contentType: JSON_TYPE, text, body: undefined, ...reply });
}

const appError = (code: string, statusCode: number) => ({
  success: false,
  message: "No.",
  error: { code, message: "No.", statusCode, requestId: "r", suggestion: "", docs: "" },
  timestamp: "2027-01-31T12:00:00.000Z",
});

const health = { status: "ok", time: "2027-01-31T12:00:00.000Z" };

test("reports no faults for a valid response, in any spelling of its path", () => {
  expect(faults("GET", "/health?x=1", { body: health })).toEqual([]);
  expect(faults("GET", "/api/health", { body: health })).toEqual([]);
});

test("names a missing field, a field of the wrong type and an undeclared field", () => {
  expect(faults("GET", "/health", { body: { status: "ok" } })[0]).toMatch(/^time: /);
  expect(faults("GET", "/health", { body: { ...health, status: 1 } })[0]).toMatch(/^status: /);
  expect(faults("GET", "/health", { body: { ...health, pid: 1 } })).toEqual([
    "pid: the contract knows no such field",
  ]);
  const page = { data: [{ id: 1 }], cursor: null, hasMore: false, total: 1 };
  expect(faults("GET", "/mailbox/messages", { body: page })).toContainEqual(
    expect.stringMatching(/^data\.0\.id: /),
  );
});

test("reports an unknown status, another content type and an unexpected body", () => {
  expect(faults("GET", "/health", { status: 202, body: health })).toEqual([
    "the contract knows no answer 202",
  ]);
  expect(faults("GET", "/health", { contentType: "text/html", body: health })).toEqual([
    "it is text/html, not application/json",
  ]);
  const id = "01a20e5c-fae9-7c1f-be05-5d044ac21a09";
  expect(faults("DELETE", `/contacts/${id}`, { status: 204, text: "x" })).toHaveLength(1);
});

test("checks wrapped data within its envelope", () => {
  expect(faults("GET", "/auth/oauth-config", { body: { success: true, data: {} } })).toContainEqual(
    expect.stringMatching(/^data\.github: /),
  );
});

test("checks the envelope of an error and whether its code is listed for the endpoint", () => {
  const ask = (code: string, status: number) =>
    faults("GET", "/contacts", { status, body: appError(code, status) });
  expect(ask("MISSING_AUTH", 401)).toEqual([]);
  expect(ask("CAMPAIGN_NOT_FOUND", 404)).toEqual([
    "the contract does not list 404 CAMPAIGN_NOT_FOUND for it",
  ]);
  expect(faults("GET", "/contacts", { status: 500, body: { error: "x" } }).length).toBeGreaterThan(0);
});

test("ignores paths that are not endpoints", () => {
  expect(faults("GET", "/docs", { contentType: "text/html" })).toEqual([]);
});

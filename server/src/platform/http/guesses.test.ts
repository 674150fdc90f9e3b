// Tests that errors suggest the likely path, field, key format or size, and link to their documentation.
import { ENDPOINTS } from "@postloft/contract/endpoints.ts";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { withValues } from "@postloft/contract/translation.ts";
import { expect, test } from "vitest";
import { responsesByName, faultsOf, useTestServer } from "../../testing/test-server.ts";
import type { ErrorEnvelope } from "./errors.ts";
import { nearestPath } from "./guesses.ts";

const server = useTestServer();

const messageOf = async (
  method: string,
  path: string,
  headers: Record<string, string> = {},
  body?: unknown,
) => {
  const reply = await server.call<ErrorEnvelope>(method, path, { headers }, body);
  return reply.body.error.errors?.map(({ message }) => message).join(" ") ?? reply.body.error.message;
};

test.each([
  ["/contact", "GET or POST /contacts"],
  ["/v1/sent", "POST /v1/send"],
  ["/v2/send", "POST /v1/send"],
  ["/templates/", "GET or POST /templates"],
  ["/campaign/0199/send", "POST /campaigns/:id/send"],
  ["/Contacts/lookup", "POST /contacts/lookup"],
])("suggests %s → %s", (path, near) => expect(nearestPath(ENDPOINTS, path)).toBe(near));

test.each(["/", "/users", "/a/b/c", "/x", "/wp-login.php", `/${"contacts".repeat(50)}`])(
  "suggests no path for %s",
  (path) => expect(nearestPath(ENDPOINTS, path)).toBeNull(),
);

test("suggests the path that is nearly the same", async () => {
  expect(await messageOf("POST", "/v1/sned", {}, {})).toBe(
    "This path does not exist. Did you mean POST /v1/send?",
  );
  expect(await messageOf("GET", "/nothing/of/the/kind")).toBe("Not found.");
});

test("recognizes a field under another service's name or misspelled", async () => {
  const { byKey } = server.project;
  const mail = { to: "ada@example.com", from: "a@sandbox.localhost" };
  const ask = async (body: object) => {
    const reply = await server.call<ErrorEnvelope>("POST", "/v1/send", byKey, body);
    return [faultsOf(reply), reply.body.error.errors?.map(({ message }) => message)];
  };
  expect(await ask({ ...mail, subject: "s", html: "<p>x</p>" })).toEqual([
    ["body required"],
    ["Required without a template. `html` was sent: did you mean `body`?"],
  ]);
  expect(await ask({ ...mail, suject: "s", body: "x" })).toEqual([
    ["subject required"],
    ["Required without a template. `suject` was sent: did you mean `subject`?"],
  ]);
  const named = { name: "n", subject: "s", body: "x", from: "a@sandbox.localhost", audienceType: "SEGMENT" };
  const reply = await server.call<ErrorEnvelope>("POST", "/campaigns", byKey, { ...named, segmentId: null });
  expect(reply.status).toBe(422);
  expect(JSON.stringify(reply.body)).not.toContain("did you mean");
  expect(await ask({ ...mail, body: "x" })).toEqual([["subject required"], ["Required without a template."]]);
});

test("distinguishes a key without Bearer from something that is no key, without repeating it", async () => {
  const { secretKey } = server.project;
  const reported = await responsesByName(
    [secretKey, "Bearer re_123", "Bearer sk_unknown"],
    String,
    (authorization) => messageOf("GET", "/contacts", { authorization }),
  );
  expect(reported).toEqual({
    [secretKey]: "The word Bearer is missing before the key. Send `Authorization: Bearer <key>`.",
    "Bearer re_123": "The token after `Bearer` is not a Postloft key. Keys begin with `sk_` or `pk_`.",
    "Bearer sk_unknown": "The API key is not valid. Keys stop working when they are regenerated.",
  });
});

test("shows the format with an offset when a date has none", async () => {
  const reply = await server.call<ErrorEnvelope>(
    "GET",
    "/events?since=2027-01-31T12:00:00",
    server.project.byKey,
  );
  expect(faultsOf(reply)).toEqual(["since invalid_date"]);
  expect(reply.body.error.errors?.[0]?.message).toContain("2027-01-31T13:00:00+01:00");
});

const askForDomain = async (domain: string) =>
  (await server.call<ErrorEnvelope>("POST", "/domains", server.project.byKey, { domain })).body.error.errors;
const nameAlone = (domain: string) =>
  withValues("Enter only the domain, without https:// or a path, such as {domain}.", { domain });

test("suggests the name when a domain is given as a web address", async () => {
  for (const domain of ["https://Mail.example.org/start", "mail.example.org/", "mail.example.org:25"])
    expect(await askForDomain(domain)).toEqual([
      { field: "domain", code: "invalid_string", ...nameAlone("mail.example.org") },
    ]);
  expect(await askForDomain("http://localhost/")).toMatchObject([nameAlone("example.com")]);
});

test("names the limit when a body is too large", async () => {
  const large = { name: "x".repeat(LIMITS.bodyBytes.value) };
  const { byKey } = server.project;
  const reply = await server.call("POST", "/templates", byKey, large);
  expect(reply.body.error.message).toBe("The body exceeds the limit of 1 MB for this endpoint.");
});

test("links every error to its entry on the documentation page", async () => {
  const reply = await server.call<ErrorEnvelope>("GET", "/contacts");
  const link = new URL(reply.body.error.docs);
  expect([link.pathname, link.hash]).toEqual(["/docs/errors", "#MISSING_AUTH"]);
  expect(link.port).toBe(new URL(server.url).port);
  const page = await server.call("GET", link.pathname);
  expect(page.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect(page.text).toContain('<dt id="MISSING_AUTH">401 MISSING_AUTH</dt>');
});

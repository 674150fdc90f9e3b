// Tests the OpenAPI document with two linters that API users run: they find no unintended problems.
import { createConfig, lintFromString } from "@redocly/openapi-core";
import SpectralCore, { type RulesetDefinition } from "@stoplight/spectral-core";
import { Json } from "@stoplight/spectral-parsers";
import { oas } from "@stoplight/spectral-rulesets";
import { expect, test } from "vitest";
import { openApiDocument } from "./openapi.ts";

const text = JSON.stringify(openApiDocument("https://post.acme.test", "1.2.3"));

/** The linters check some 20,000 nodes with each of their rules, which takes seconds, and many more on a busy machine. */
const LINTING_MS = 300_000;

async function spectralFindings(document: string): Promise<string[]> {
  const spectral = new SpectralCore.Spectral();
  // The linter's own types require `extends`, although this rule set extends nothing.
  spectral.setRuleset({ extends: [oas as unknown as RulesetDefinition] });
  const found = await spectral.run(new SpectralCore.Document(document, Json, "openapi.json"));
  return found.map(({ code, path, message }) => `${code} ${path.join(".")}: ${message}`);
}

/** Rules that an endpoint violates on purpose, with the reason. */
const INTENDED: ReadonlyArray<{ rule: string; at: RegExp }> = [
  // Paths of the specification, such as `/contacts/fields/{field}` and `/contacts/{id}/export`. An id is never the word `fields`.
  { rule: "no-ambiguous-paths", at: /^#\/paths\/~1(contacts|domains|events)~1/ },
  // These pages only redirect and never have another response.
  { rule: "operation-2xx-response", at: /^#\/paths\/~1auth~1oauth~1/ },
  // These requests cannot be invalid.
  {
    rule: "operation-4xx-response",
    at: /^#\/paths\/~1(config|health|ready|metrics|openapi\.json)\//,
  },
];

async function redoclyFindings(document: string): Promise<string[]> {
  const config = await createConfig({ extends: ["recommended"] });
  const found = await lintFromString({ source: document, config, absoluteRef: "openapi.json" });
  return found
    .map(({ ruleId, message, location }) => ({ ruleId, message, at: location[0]?.pointer ?? "" }))
    .filter(({ ruleId, at }) => !INTENDED.some((one) => one.rule === ruleId && one.at.test(at)))
    .map(({ ruleId, at, message }) => `${ruleId} ${at}: ${message}`);
}

test(
  "spectral reports no problems",
  async () => {
    expect(await spectralFindings(text)).toEqual([]);
  },
  LINTING_MS,
);

test(
  "redocly reports no problems",
  async () => {
    expect(await redoclyFindings(text)).toEqual([]);
  },
  LINTING_MS,
);

test(
  "both linters report a list without items and an operation without a summary",
  async () => {
    const broken = text
      .replace('{"type":"array","items":{"$ref"', '{"type":"array","nothing":{"$ref"')
      .replace(/"summary":"[^"]+",/, "");
    expect((await spectralFindings(broken)).join()).toContain("array-items");
    expect((await redoclyFindings(broken)).join()).toContain("operation-summary");
  },
  LINTING_MS,
);

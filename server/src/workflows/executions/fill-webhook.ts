// Fills the variables of a WEBHOOK. Values cannot change the host that is called, add a part to the path, or add a header.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { StepConfig } from "@postloft/contract/workflows/graph.ts";
import { recordedReason } from "@postloft/contract/recorded-reasons.ts";
import { printed } from "../../rendering/compile-template.ts";
import { FillError, hasVariables, type Filler } from "../../rendering/fill-text.ts";
import { checkWebhookHeaders } from "../../webhooks/check-webhook.ts";
import type { WebhookVault } from "../../webhooks/webhook-vault.ts";

/** A request as it is queued, with its credentials encrypted. */
export interface WebhookRequest {
  url: string;
  headers: Readonly<Record<string, string>>;
  /** As JSON. Null for the default body. */
  body: string | null;
}

/** Delimit a filled value in a URL. Neither a URL nor an encoded value contains them. */
const [OPEN, CLOSE] = ["\u0001", "\u0002"];
// oxlint-disable-next-line no-control-regex -- the marks are control characters
const MARKS = /[\u0001\u0002]/gu;
const DOT_SEGMENT = /^(?:\.|%2e){1,2}$/i;

/**
 * Returns the request of a step. A part without variables stays as it is stored.
 * @throws FillError if a value is missing in the path, or does not fit where it is used
 */
export function fillWebhook(
  { url, headers = {}, body }: StepConfig<"WEBHOOK">,
  filler: Filler,
  { projectId, vault }: { projectId: string; vault: WebhookVault },
): WebhookRequest {
  const opened = openOrFail();
  return {
    url: hasVariables(opened.url) ? vault.sealUrl(projectId, fillUrl(opened.url, filler)) : url,
    headers: fillHeaders(),
    body: body === undefined || body === null ? null : JSON.stringify(filler.json(body) ?? null),
  };

  function openOrFail() {
    try {
      return { url: vault.openUrl(projectId, url), headers: vault.open(projectId, headers) };
    } catch {
      // They were encrypted under another application secret.
      throw new FillError(recordedReason("secretUnreadable"));
    }
  }
  function fillHeaders(): Record<string, string> {
    const written = Object.entries(opened.headers).filter(([, value]) => hasVariables(value));
    if (written.length === 0) return { ...headers };
    const filled = Object.fromEntries(written.map(([name, value]) => [name, filler.text(value)]));
    for (const { name, message } of checkWebhookHeaders(filled))
      throw new FillError(recordedReason("headerInvalid", { name, why: message }));
    return { ...headers, ...vault.seal(projectId, filled) };
  }
}

/** @throws FillError */
export function fillUrl(written: string, filler: Filler): string {
  const marked = filler.text(written, (value) => `${OPEN}${encoded(value)}${CLOSE}`);
  const [beforeQuery = ""] = marked.split(/[?#]/u, 1);
  const [, origin = "", path = ""] = /^([^/]*\/\/[^/]*)(.*)$/su.exec(beforeQuery) ?? [];
  if (origin === "" || origin.includes(OPEN)) throw new FillError(recordedReason("variableInHost"));
  if (path.includes(OPEN + CLOSE)) throw new FillError(recordedReason("emptyPart"));
  const isDots = (part: string) => part.includes(OPEN) && DOT_SEGMENT.test(part.replaceAll(MARKS, ""));
  if (path.split("/").some(isDots)) throw new FillError(recordedReason("dotsInPath"));
  const url = marked.replaceAll(MARKS, "");
  if (url.length > LIMITS.webhookUrlLength.value) throw new FillError(recordedReason("urlTooLong"));
  return url;
}

/** Returns a value encoded for the path and the query alike. */
function encoded(value: unknown): string {
  if (typeof value === "object" && value !== null && !Array.isArray(value))
    throw new FillError(recordedReason("objectInUrl"));
  return encodeURIComponent(printed(value).toWellFormed());
}

// Encrypts the credentials of webhook steps that were stored in clear text before the server encrypted them.
import type { Graph } from "@postloft/contract/workflows/graph.ts";
import type { Sealer } from "../platform/crypto.ts";
import { transaction, type Database } from "../platform/database/database.ts";
import {
  createWebhookVault,
  listMaskedNames,
  listMaskedParameters,
  type WebhookVault,
} from "../webhooks/webhook-vault.ts";
import { findUnsealed, listVersionsToSeal, markSealed } from "./seal-queries.ts";
import { withSealed, type WebhookStep } from "./steps.ts";

/** Workflows in one sweep. The others are left for the next one. */
const MAX_WORKFLOWS = 10_000;

/** Encrypts what is still in clear text. Returns the number of workflows it checked; workflows that were checked before cost nothing. */
export async function sealStoredSteps(database: Database, sealer: Sealer): Promise<number> {
  const vault = createWebhookVault(sealer);
  const workflows = await findUnsealed(database, MAX_WORKFLOWS);
  for (const { projectId, workflowId } of workflows)
    await transaction(database, async (tx) => {
      /** The step of the version before: an equal credential keeps its text, so that versions don't differ. */
      const latest = new Map<string, WebhookStep["config"]>();
      for (const { version, graph } of await listVersionsToSeal(tx, projectId, workflowId)) {
        const sealed = withSealedSteps(graph, vault, projectId, latest);
        await markSealed(tx, { projectId, workflowId, version, graph: sealed });
      }
    });
  return workflows.length;
}

function withSealedSteps(
  graph: Graph,
  vault: WebhookVault,
  projectId: string,
  latest: Map<string, WebhookStep["config"]>,
): Graph {
  const steps = graph.steps.map((step) => {
    if (step.type !== "WEBHOOK") return step;
    const { url, headers = {} } = step.config;
    // A value that is still missing must not become that of another version.
    const isMissing = listMaskedParameters(url).length + listMaskedNames(headers).length > 0;
    const stored = isMissing ? undefined : latest.get(step.id);
    const sealed = reseal(vault, projectId, step, stored ?? step.config);
    latest.set(step.id, sealed.config);
    return sealed;
  });
  return { ...graph, steps };
}

function reseal(vault: WebhookVault, projectId: string, step: WebhookStep, stored: WebhookStep["config"]) {
  const { url, headers } = step.config;
  try {
    const opened = headers === undefined ? {} : { headers: vault.open(projectId, headers) };
    const config = { ...step.config, url: vault.openUrl(projectId, url), ...opened };
    return withSealed(vault, projectId, { ...step, config }, stored);
  } catch {
    // It was sealed under another application secret, so it is not in clear text.
    return step;
  }
}

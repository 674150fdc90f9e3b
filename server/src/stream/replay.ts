// Sends events of the log to a webhook endpoint again.
import type * as contract from "@postloft/contract/webhook-deliveries.ts";
import { withValues } from "@postloft/contract/translation.ts";
import type { z } from "zod";
import { AppError, invalidField } from "../platform/app-error.ts";
import type { Tx } from "../platform/database/database.ts";
import { isId } from "../platform/ids.ts";
import { lockProject } from "../projects/projects.ts";
import type { EndpointKey } from "./delivery-queries.ts";
import { findStream } from "./log-queries.ts";
import { requireKept } from "./numbered-log.ts";
import { findNumberBefore, lockEndpoint, updateToReplay } from "./replay-queries.ts";

type Start = z.output<typeof contract.replayEvents.body>;

/**
 * Moves an endpoint back, so that all matching events above a number are delivered again. Never moves it forward, because that would skip
 * events. Returns the number, and the last one of the project.
 * @throws AppError RESOURCE_NOT_FOUND; VALIDATION_ERROR for a number that is no longer kept or not assigned yet
 */
export async function replayEvents(tx: Tx, key: EndpointKey, { after, since }: Start) {
  await lockProject(tx, key.projectId);
  const isFound = isId(key.id) && (await lockEndpoint(tx, key));
  const stream = await findStream(tx, key.projectId);
  if (!isFound || stream === undefined) throw new AppError("RESOURCE_NOT_FOUND");
  const { lastNumber } = stream;
  const found = since === undefined ? after : await findNumberBefore(tx, key.projectId, since);
  const from = found ?? lastNumber;
  requireKept(from, stream);
  if (from > lastNumber)
    throw invalidField(
      "after",
      "too_big",
      withValues("The last event has number {last}.", { last: lastNumber }),
    );
  await updateToReplay(tx, key, from);
  return { after: from, lastNumber };
}

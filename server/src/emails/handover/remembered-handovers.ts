// Wraps a sender's pre-send check and bookkeeper with a memory of recent submissions, to reconcile results lost in a failover.
import type { Witness } from "../../platform/stamp/stamp.ts";
import { createHandover, type Handover, type HandoverCheck, type HandoverOptions } from "./handover.ts";
import { createHandoverMemory } from "./handover-memory.ts";
import { createBookkeeper, type Bookkeeper, type Feedbacks } from "../booking/outcomes.ts";
import { createWitness, type HoldCampaigns } from "./put-right.ts";
import type { Transport } from "../../transports/transport.ts";

export interface FailoverOptions {
  /** Registers the sender with the monitor of the database. Without it, lost results are not reconciled. */
  addWitness?: (witness: Witness) => void;
  holdCampaigns?: HoldCampaigns;
}

export function createRememberedHandovers(
  options: HandoverOptions & FailoverOptions & { transport: Transport; applyFeedback: Feedbacks },
): {
  check: HandoverCheck;
  books: Bookkeeper;
  inDoubt: Handover["inDoubt"];
} {
  const transportName = options.transport.name;
  const memory = createHandoverMemory();
  const holdCampaigns = options.holdCampaigns ?? (async () => undefined);
  options.addWitness?.(createWitness({ ...options, memory, transportName, holdCampaigns }));
  const handover = createHandover(options);
  return {
    check: memory.atCheck(handover),
    books: memory.atBooks(createBookkeeper({ ...options, transportName, handover })),
    inDoubt: handover.inDoubt,
  };
}

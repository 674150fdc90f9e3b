// The handover check and the books of a sender, with a memory of what passed, and one of system mail: so that what a database forgets
// when a standby takes over is put right.
// Before it: sender.ts. After it: handover.ts and outcomes.ts as ever; put-right.ts when the database is another one.
import type { Witness } from "../platform/stamp/stamp.ts";
import { createHandover, type Handover, type HandoverCheck, type HandoverOptions } from "./handover.ts";
import { createHandoverMemory } from "./handover-memory.ts";
import { createBookkeeper, type Bookkeeper, type Feedbacks } from "./outcomes.ts";
import { createWitness, type HoldCampaigns } from "./put-right.ts";
import type { Transport } from "../transports/transport.ts";
import { createSystemMemory, type SystemMemory } from "./system-memory.ts";

export interface FailoverOptions {
  /** Called for each, in the order in which they put right: whoever watches the database has what it forgot put right. Without it nobody does. */
  addWitness?: (witness: Witness) => void;
  holdCampaigns?: HoldCampaigns;
}

export function createRememberedHandovers(
  options: HandoverOptions & FailoverOptions & { transport: Transport; applyFeedback: Feedbacks },
): {
  check: HandoverCheck;
  books: Bookkeeper;
  inDoubt: Handover["inDoubt"];
  systemMemory: SystemMemory;
} {
  const transportName = options.transport.name;
  const memory = createHandoverMemory();
  const holdCampaigns = options.holdCampaigns ?? (async () => undefined);
  const systemMemory = createSystemMemory(options);
  // First: the other one is who says that this process has come by.
  options.addWitness?.(systemMemory.witness);
  options.addWitness?.(createWitness({ ...options, memory, transportName, holdCampaigns }));
  const handover = createHandover(options);
  return {
    systemMemory,
    check: memory.atCheck(handover),
    books: memory.atBooks(createBookkeeper({ ...options, transportName, handover })),
    inDoubt: handover.inDoubt,
  };
}

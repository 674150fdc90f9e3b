// The gate and the books of a sender, with a memory of what passed: so that what a database forgets when a standby takes over is put right.
// Before it: sender.ts. After it: gate.ts and outcomes.ts as ever; put-right.ts when the database is another one.
import type { Witness } from "../platform/stamp/stamp.ts";
import { createGate, type Gate, type GateOptions } from "./gate.ts";
import { createHandoverMemory } from "./handover-memory.ts";
import { createBookkeeper, type Bookkeeper, type Feedbacks } from "./outcomes.ts";
import { createWitness, type HoldCampaigns } from "./put-right.ts";
import type { Transport } from "./providers/transport.ts";

export interface FailoverOptions {
  /** Called once: whoever watches the database has what it forgot put right. Without it nobody does. */
  addWitness?: (witness: Witness) => void;
  holdCampaigns?: HoldCampaigns;
}

export function createRememberedHandovers(
  options: GateOptions & FailoverOptions & { transport: Transport; applyFeedback: Feedbacks },
): { gate: Gate; books: Bookkeeper } {
  const transportName = options.transport.name;
  const memory = createHandoverMemory();
  const holdCampaigns = options.holdCampaigns ?? (async () => undefined);
  options.addWitness?.(createWitness({ ...options, memory, transportName, holdCampaigns }));
  return {
    gate: memory.atGate(createGate(options)),
    books: memory.atBooks(createBookkeeper({ ...options, transportName })),
  };
}

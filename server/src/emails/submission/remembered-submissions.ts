// Wraps a sender's pre-send check and bookkeeper with a memory of recent submissions, to reconcile results lost in a failover.
import type { RecoveryParticipant } from "../../platform/stamp/stamp.ts";
import {
  createPreSendCheck,
  type Submission,
  type PreSendCheck,
  type SubmissionOptions,
} from "./pre-send-check.ts";
import { createSubmissionMemory } from "./submission-memory.ts";
import { createResultRecorder, type ResultRecorder, type Feedbacks } from "../results/outcomes.ts";
import { createRecoveryParticipant, type HoldCampaigns } from "./reconcile.ts";
import type { Transport } from "../../transports/transport.ts";

export interface FailoverOptions {
  /** Registers the sender with the monitor of the database. Without it, lost results are not reconciled. */
  addRecoveryParticipant?: (participant: RecoveryParticipant) => void;
  holdCampaigns?: HoldCampaigns;
}

export function createRememberedSubmissions(
  options: SubmissionOptions & FailoverOptions & { transport: Transport; applyFeedback: Feedbacks },
): {
  check: PreSendCheck;
  books: ResultRecorder;
  inDoubt: Submission["inDoubt"];
} {
  const transportName = options.transport.name;
  const memory = createSubmissionMemory();
  const holdCampaigns = options.holdCampaigns ?? (async () => undefined);
  options.addRecoveryParticipant?.(
    createRecoveryParticipant({ ...options, memory, transportName, holdCampaigns }),
  );
  const submission = createPreSendCheck(options);
  return {
    check: memory.atCheck(submission),
    books: memory.atBooks(createResultRecorder({ ...options, transportName, submission })),
    inDoubt: submission.inDoubt,
  };
}

// The brake on campaigns whose handovers get no answer: after one such, a probe at a time, until one is answered or so many in a row were
// not that the campaign pauses. One per sending process.
import type { Log } from "../../platform/log.ts";
import type { Outcome } from "../../transports/transport.ts";
import type { ClaimedRow } from "../sending/sender-queries.ts";

type BrakedMail = Pick<ClaimedRow, "id" | "projectId" | "campaignId">;

/** Pauses a campaign since so many of its handovers in a row got no answer; `answer` is what is known of the last. */
export type PauseInDoubt = (campaign: {
  projectId: string;
  campaignId: string;
  probes: number;
  answer: string;
}) => Promise<void>;

export interface DoubtBrake {
  /** Whether a mail may go on to its final dot now. While another of its campaign probes it waits, and is told no if that lasts. */
  pass(mail: BrakedMail): Promise<boolean>;
  /** What came of a handover; resolves when the campaign has paused, if it must. Never rejects. */
  tell(mail: BrakedMail, outcome: Outcome): Promise<void>;
}

interface Doubt {
  /** The mail that tries whether there are answers again. */
  probe: string | null;
  unanswered: number;
  waiting: Array<() => void>;
}

/** Probes in a row without an answer. With those that were under way before, no more mails of a campaign are in doubt. */
export const PROBES = 5;
/** A mail that waits holds a connection, which others could use. */
const MAX_WAIT_MS = 10_000;
/** Of campaigns that ended in doubt something is left behind: of so many. */
const MAX_DOUBTS = 1_000;

export function createDoubtBrake({
  pause,
  log,
  maxWaitMs = MAX_WAIT_MS,
}: {
  pause: PauseInDoubt;
  log: Log;
  maxWaitMs?: number;
}): DoubtBrake {
  const doubts = new Map<string, Doubt>();

  function begin(campaignId: string): void {
    const [oldest] = doubts.keys();
    if (doubts.size >= MAX_DOUBTS && oldest !== undefined) end(oldest);
    doubts.set(campaignId, { probe: null, unanswered: 0, waiting: [] });
  }

  function end(campaignId: string): void {
    const waiting = doubts.get(campaignId)?.waiting ?? [];
    doubts.delete(campaignId);
    for (const look of waiting) look();
  }

  /** Resolves when the doubt is over or the next probe may go; after a while in any case. */
  function waitFor(doubt: Doubt): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        clearTimeout(timer);
        doubt.waiting = doubt.waiting.filter((other) => other !== look);
        resolve();
      };
      const timer = setTimeout(look, maxWaitMs);
      doubt.waiting.push(look);
    });
  }

  async function pauseCampaign(mail: BrakedMail, campaignId: string, answer: string): Promise<boolean> {
    try {
      await pause({ projectId: mail.projectId, campaignId, probes: PROBES, answer });
      return true;
    } catch (error) {
      log.warn(
        { err: error, campaignId },
        "a campaign in doubt could not be paused; its next mail tries again",
      );
      return false;
    }
  }

  return {
    async pass({ id, campaignId }) {
      if (campaignId === null) return true;
      const untilMs = performance.now() + maxWaitMs;
      for (let doubt; (doubt = doubts.get(campaignId)) !== undefined;) {
        doubt.probe ??= id;
        if (doubt.probe === id) return true;
        if (performance.now() >= untilMs) return false;
        await waitFor(doubt);
      }
      return true;
    },
    async tell(mail, outcome) {
      const { id, campaignId } = mail;
      if (campaignId === null) return;
      const doubt = doubts.get(campaignId);
      if (doubt === undefined) {
        if (outcome.kind === "uncertain") begin(campaignId);
        return;
      }
      // What was under way before says what is known already.
      if (doubt.probe !== id) return;
      if (isAnswer(outcome)) return end(campaignId);
      if (outcome.kind === "uncertain") doubt.unanswered++;
      if (doubt.unanswered >= PROBES) {
        const answer = "answer" in outcome ? outcome.answer : "";
        if (await pauseCampaign(mail, campaignId, answer)) return end(campaignId);
      }
      doubt.probe = null;
      doubt.waiting[0]?.();
    },
  };
}

/** Whether the server said what it made of the mail. */
function isAnswer(outcome: Outcome): boolean {
  return (
    outcome.kind === "sent" ||
    outcome.kind === "rejected" ||
    (outcome.kind === "deferred" && outcome.outage !== true)
  );
}

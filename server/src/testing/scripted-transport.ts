// A transport for tests of the sender: it does what the test says for each attempt, and keeps what was handed over.
import type { Outcome, OutgoingMessage, Transport } from "../transports/transport.ts";

/** What happens at one attempt: an outcome before the handover check, or after it. */
export type Play = (message: OutgoingMessage, mayLeave: () => Promise<boolean>) => Promise<Outcome>;

export const TAKEN: Outcome = { kind: "sent", answer: "250 2.0.0 taken" };

export interface ScriptedTransport extends Transport {
  /** Messages that passed the handover check, in the order of their handover. */
  readonly handedOver: OutgoingMessage[];
  /** What is done from now on. */
  play: Play;
}

/** Passes the handover check and takes every message. */
export const takeEverything: Play = async (_message, mayLeave) =>
  (await mayLeave()) ? TAKEN : { kind: "withdrawn" };

/** Answers before the handover, so that nothing has left. */
export function refuseWith(outcome: Outcome): Play {
  return async () => outcome;
}

export function createScriptedTransport(): ScriptedTransport {
  const handedOver: OutgoingMessage[] = [];
  return {
    name: "scripted",
    handedOver,
    play: takeEverything,
    async send(message, mayLeave) {
      return this.play(message, async () => {
        const mayGo = await mayLeave();
        // The sender takes the memory of a message back when it is sent.
        if (mayGo) handedOver.push({ ...message, raw: Buffer.from(message.raw) });
        return mayGo;
      });
    },
    close: async () => undefined,
  };
}

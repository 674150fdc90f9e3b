// What preparing a claimed mail results in: a message that can be sent, or the reason why there is none.
import type { ListKind } from "../../message/message-headers.ts";
import type { OutgoingMessage, Transport } from "../../transports/transport.ts";
import type { ClaimedRow } from "./claimed-queries.ts";

/** The transport of an email, chosen before the message is signed. */
export interface ChosenTransport {
  /** The project's own transport, or null for the installation's. */
  own: Transport | null;
  /** The version of the queue for which it was chosen. The email must not be sent under another one. */
  queueVersion: string;
}

export interface Ready {
  kind: "ready";
  row: ClaimedRow;
  message: OutgoingMessage;
  /** The rendered subject if it differs from the content's subject because of variables. */
  ownSubject: string | null;
  listKind: ListKind | null;
  /** Null if the project has no transports of its own. */
  chosen: ChosenTransport | null;
}

export interface Unready {
  /** `skipped` means that the email is no longer wanted. */
  kind: "failed" | "skipped";
  row: ClaimedRow;
  reason: string;
}

export type Prepared = Ready | Unready;

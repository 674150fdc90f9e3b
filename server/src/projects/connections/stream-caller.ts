// Describes the caller of a stream.

/** The credential that opened a stream: a session of a member, or an API key. */
export interface StreamCaller {
  projectId: string;
  userId: string | null;
  sessionId: string | null;
  /** null for a session. */
  keyHash: Buffer | null;
}

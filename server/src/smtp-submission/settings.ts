// The settings of SMTP submission, and the faults that only all of them together show.
import { isLoopback } from "../platform/http/loopback.ts";
import type { Config } from "../platform/settings/config.ts";
import { readCertificate } from "./certificate.ts";

export type SubmissionSettings = Pick<
  Config,
  "SUBMISSION_PORT" | "SUBMISSION_TLS_PORT" | "SUBMISSION_HOST" | "SUBMISSION_TLS_CERT" | "SUBMISSION_TLS_KEY"
>;

/** Returns the errors in the settings, for the start. */
export function faultsOfSubmission(settings: Partial<SubmissionSettings>): string[] {
  const { SUBMISSION_PORT, SUBMISSION_TLS_PORT, SUBMISSION_HOST = "127.0.0.1" } = settings;
  const { SUBMISSION_TLS_CERT: cert, SUBMISSION_TLS_KEY: key } = settings;
  if (SUBMISSION_PORT === undefined && SUBMISSION_TLS_PORT === undefined) return [];
  if (cert !== undefined && key !== undefined) return faultsOfFiles(cert, key);
  if (cert !== undefined) return ["SUBMISSION_TLS_KEY: required with SUBMISSION_TLS_CERT"];
  if (key !== undefined) return ["SUBMISSION_TLS_CERT: required with SUBMISSION_TLS_KEY"];
  if (SUBMISSION_TLS_PORT !== undefined)
    return ["SUBMISSION_TLS_CERT: required with SUBMISSION_TLS_PORT, together with SUBMISSION_TLS_KEY"];
  if (isLoopback(SUBMISSION_HOST)) return [];
  return [
    `SUBMISSION_HOST: other machines would send their keys to ${SUBMISSION_HOST} unencrypted; set SUBMISSION_TLS_CERT and SUBMISSION_TLS_KEY, or use 127.0.0.1`,
  ];
}

function faultsOfFiles(cert: string, key: string): string[] {
  try {
    readCertificate({ cert, key });
    return [];
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    return [`SUBMISSION_TLS_CERT: the certificate of ${cert} and ${key} cannot be used (${code ?? message})`];
  }
}

// Starts SMTP submission as the settings say.
import type { SubmissionSettings } from "./settings.ts";
import type { SubmissionDependencies } from "./smtp-submission.ts";

type Options = Omit<SubmissionDependencies, "host" | "port" | "tlsPort" | "certificate"> & {
  submissionSettings: SubmissionSettings;
  say: (line: string) => void;
};

/** The address at which programs submit. */
export interface SubmissionAddress {
  host: string;
  port: number | null;
  tlsPort: number | null;
  hasCertificate: boolean;
}

export interface OpenSubmission {
  /** Null if submission is off. */
  address: SubmissionAddress | null;
  stop: () => Promise<void>;
}

/** Listens on the ports of the settings and prints them. Does nothing without a port. */
export async function openSubmission(options: Options): Promise<OpenSubmission> {
  const { submissionSettings: settings, say, ...deps } = options;
  const { SUBMISSION_TLS_CERT: cert, SUBMISSION_TLS_KEY: key } = settings;
  const port = settings.SUBMISSION_PORT ?? null;
  const tlsPort = settings.SUBMISSION_TLS_PORT ?? null;
  if (port === null && tlsPort === null) return { address: null, stop: async () => undefined };
  // Loaded only if used.
  const { startSubmission } = await import("./smtp-submission.ts");
  const certificate = cert === undefined || key === undefined ? null : { cert, key };
  const endpoint = await startSubmission({
    ...deps,
    host: settings.SUBMISSION_HOST,
    port,
    tlsPort,
    certificate,
  });
  if (endpoint.port !== null)
    say(
      `Accepting email over SMTP on port ${endpoint.port}${certificate === null ? ", from this machine only" : " (STARTTLS)"}.`,
    );
  if (endpoint.tlsPort !== null) say(`Accepting email over SMTP on port ${endpoint.tlsPort} (TLS).`);
  const address = {
    host: settings.SUBMISSION_HOST,
    port: endpoint.port,
    tlsPort: endpoint.tlsPort,
    hasCertificate: certificate !== null,
  };
  return { address, stop: () => endpoint.stop() };
}

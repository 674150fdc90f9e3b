// Reads the TLS certificate of SMTP submission from its files, and again when they change.
import { readFileSync, unwatchFile, watchFile } from "node:fs";
import { createSecureContext } from "node:tls";
import type { Log } from "../platform/log.ts";

/** Paths of PEM files. */
export interface CertificateFiles {
  cert: string;
  key: string;
}

/** PEM texts. */
export interface Certificate {
  cert: string;
  key: string;
}

/** Renewals are rare, and an old certificate is valid for days after a renewal. */
const LOOK_EVERY_MS = 5_000;

/** Returns the certificate. @throws Error if a file cannot be read or the two don't belong together */
export function readCertificate({ cert, key }: CertificateFiles): Certificate {
  const pem = { cert: readFileSync(cert, "utf8"), key: readFileSync(key, "utf8") };
  createSecureContext(pem);
  return pem;
}

/**
 * Applies the certificate again after a file changed, and returns the function that stops it. While only one of both files is new, the old
 * certificate stays.
 */
export function watchCertificate(
  files: CertificateFiles,
  apply: (certificate: Certificate) => void,
  { log, everyMs = LOOK_EVERY_MS }: { log: Log; everyMs?: number },
): () => void {
  const paths = [files.cert, files.key];
  const reload = () => {
    try {
      apply(readCertificate(files));
      log.info("the certificate of SMTP submission was reloaded");
    } catch (error) {
      log.warn(
        { err: error },
        "the changed certificate of SMTP submission cannot be used, the old one stays",
      );
    }
  };
  for (const path of paths) watchFile(path, { interval: everyMs, persistent: false }, reload);
  return () => {
    for (const path of paths) unwatchFile(path, reload);
  };
}

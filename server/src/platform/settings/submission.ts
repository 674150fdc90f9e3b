// The settings of SMTP submission (docs/smtp-submission.md).
import { z } from "zod";
import { port } from "./forms.ts";

export const SUBMISSION_SETTINGS = {
  SUBMISSION_PORT: {
    schema: port.optional(),
    default: "",
    meaning:
      "Port where the role `api` accepts email of other programs over SMTP, usually 587, with STARTTLS if there is a certificate. 0 picks a free port. Empty: off.",
  },
  SUBMISSION_TLS_PORT: {
    schema: port.optional(),
    default: "",
    meaning: "The same with TLS from the first byte, usually 465. Requires a certificate. Empty: off.",
  },
  SUBMISSION_HOST: {
    schema: z.string().default("127.0.0.1"),
    default: "127.0.0.1",
    meaning: "Address of both ports. Other addresses than this machine's own require a certificate.",
  },
  SUBMISSION_TLS_CERT: {
    schema: z.string().optional(),
    default: "",
    meaning:
      "The path of a PEM file with the certificate and its chain. It is read again when it changes. With it, clients sign in only after TLS.",
  },
  SUBMISSION_TLS_KEY: {
    schema: z.string().optional(),
    default: "",
    meaning: "The path of the PEM file with its private key.",
  },
} as const;

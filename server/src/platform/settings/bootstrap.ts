// The settings that create the first account, its project and its keys in an empty database.
import { z } from "zod";
import { key } from "./forms.ts";

export const BOOTSTRAP_SETTINGS = {
  BOOTSTRAP_EMAIL: {
    schema: z.string().optional(),
    default: "",
    meaning: "The email address of the first account, created in an empty database.",
  },
  BOOTSTRAP_PASSWORD: {
    schema: z.string().optional(),
    default: "",
    meaning: "Its password, at least 10 characters.",
  },
  BOOTSTRAP_PROJECT: { schema: z.string().optional(), default: "", meaning: "The name of its project." },
  BOOTSTRAP_PUBLIC_KEY: {
    schema: key("pk").optional(),
    default: "",
    meaning: "The project's public key (pk_…). Empty: generated.",
  },
  BOOTSTRAP_SECRET_KEY: {
    schema: key("sk").optional(),
    default: "",
    meaning: "The project's secret key (sk_…). Empty: generated.",
  },
} as const;

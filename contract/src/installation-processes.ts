// The processes of an installation and its growth, as parts of the installation page (decision 0168).
import { z } from "zod";
import { instant } from "./field.ts";

export const process = z.object({
  id: z.uuid(),
  roles: z.array(z.string()),
  host: z.string().describe("Name of the machine or container."),
  version: z.string(),
  startedAt: instant,
  seenAt: instant,
  isAlive: z
    .boolean()
    .describe("Whether it reported within the last 45 seconds. Each process reports every 15 seconds."),
});

export const growth = z.object({
  since: instant.describe("The first measurement that counts."),
  days: z.int(),
  databaseBytesPerDay: z.number(),
  diskBytesPerDay: z
    .number()
    .nullable()
    .describe(
      "Null if DATABASE_URL names the database, because its disk can't be seen, or if the disk was replaced.",
    ),
  diskFullAt: instant
    .nullable()
    .describe("Null if the disk is unknown, doesn't fill up, or lasts for ten years."),
});

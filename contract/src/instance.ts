// What this installation offers and how it is (spec §4.14; decisions §1, §12).
import { z } from "zod";
import { endpoint } from "./endpoint.ts";

export const getConfig = endpoint({
  name: "instance.config",
  method: "GET",
  path: "/config",
  summary: "Read what this installation offers",
  description: "What is switched on, and where things are. For a login page, before anybody is logged in.",
  caller: "anyone",
  answers: {
    200: z.object({
      environment: z.string(),
      urls: z.object({ api: z.string(), dashboard: z.string(), docs: z.string() }),
      features: z.object({
        signups: z.boolean(),
        billing: z.boolean(),
        storage: z.boolean(),
        authProviders: z.object({ github: z.boolean(), google: z.boolean(), oidc: z.boolean() }),
        email: z.object({ provider: z.string(), trackingToggleEnabled: z.boolean() }),
        smtp: z.object({ enabled: z.boolean(), domain: z.string().nullable(), ports: z.null() }),
      }),
    }),
  },
});

export const getHealth = endpoint({
  name: "instance.health",
  method: "GET",
  path: "/health",
  summary: "Whether the process lives",
  description: "Asks nothing but the process itself. For whatever restarts a process that hangs.",
  caller: "anyone",
  answers: { 200: z.object({ status: z.literal("ok"), time: z.iso.datetime() }) },
});

const check = z.enum(["ok", "failing"]);
const checks = z.object({ database: check, migrations: check, queue: check, disk: check });
/** What a person should know although the process can work: a load balancer must not take it out for this. */
const warnings = z.array(z.object({ code: z.enum(["TRANSPORT_OUTAGE", "HELD"]), message: z.string() }));

export const getReadiness = endpoint({
  name: "instance.ready",
  method: "GET",
  path: "/ready",
  summary:
    "Whether the process can do its work: database, migrations, queue, disk; and what else a person should know",
  description: "For a load balancer: 503 while the process should get no requests.",
  caller: "anyone",
  answers: {
    200: z.object({ status: z.literal("ready"), checks, warnings }),
    503: z.object({ status: z.literal("not ready"), checks, warnings }),
  },
});

export const getMetrics = endpoint({
  name: "instance.metrics",
  method: "GET",
  path: "/metrics",
  summary: "Metrics in the Prometheus text format",
  description: "Requests, attempts, what waits and how long; docs/self-hosting.md lists them.",
  caller: "anyone",
  envelope: "raw",
  answers: { 200: z.string() },
  errors: ["UNAUTHORIZED", "FORBIDDEN"],
});

export const getOpenApi = endpoint({
  name: "instance.openapi",
  method: "GET",
  path: "/openapi.json",
  summary: "This API as OpenAPI 3.1",
  description: "This document.",
  caller: "anyone",
  envelope: "raw",
  contentType: "application/json",
  answers: { 200: z.string() },
});

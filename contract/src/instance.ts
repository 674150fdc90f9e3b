// Configuration, health and metrics of the installation (spec §4.14; decisions §1, §12).
import { z } from "zod";
import { endpoint } from "./endpoint.ts";

export const getConfig = endpoint({
  name: "instance.config",
  method: "GET",
  path: "/config",
  summary: "Read the features of this installation",
  description: "Enabled features and URLs, for a sign-in page before anyone is signed in.",
  caller: "anyone",
  responses: {
    200: z.object({
      environment: z.string(),
      urls: z.object({ api: z.string(), dashboard: z.string(), docs: z.string() }),
      features: z.object({
        signups: z.boolean(),
        billing: z.boolean(),
        storage: z.boolean(),
        authProviders: z.object({ github: z.boolean(), google: z.boolean(), oidc: z.boolean() }),
        email: z.object({ provider: z.string(), trackingToggleEnabled: z.boolean() }),
        smtp: z
          .object({
            enabled: z.boolean(),
            domain: z
              .string()
              .nullable()
              .describe(
                "The host of both ports. `127.0.0.1` if only programs on the same machine can connect.",
              ),
            ports: z
              .object({
                submission: z.number().int().nullable().describe("With STARTTLS if `tls` is true."),
                secure: z.number().int().nullable().describe("With TLS from the first byte."),
              })
              .nullable(),
            tls: z.boolean().describe("Whether clients sign in after TLS."),
          })
          .describe("SMTP submission: whether other programs can send over SMTP, and where."),
      }),
    }),
  },
});

export const getHealth = endpoint({
  name: "instance.health",
  method: "GET",
  path: "/health",
  summary: "Check whether the process is alive",
  description: "Checks only the process itself, for tools that restart a hanging process.",
  caller: "anyone",
  responses: { 200: z.object({ status: z.literal("ok"), time: z.iso.datetime() }) },
});

const check = z.enum(["ok", "failing"]);
const checks = z.object({ database: check, migrations: check, queue: check, disk: check });
/** Warnings for people while the process can still work, so a load balancer must not remove it. */
const warnings = z.array(z.object({ code: z.enum(["TRANSPORT_OUTAGE", "HELD"]), message: z.string() }));

export const getReadiness = endpoint({
  name: "instance.ready",
  method: "GET",
  path: "/ready",
  summary: "Check whether the process is ready, with warnings for people",
  description:
    "Checks database, migrations, queue and disk. For load balancers: 503 while the process should get no requests.",
  caller: "anyone",
  responses: {
    200: z.object({ status: z.literal("ready"), checks, warnings }),
    503: z.object({ status: z.literal("not ready"), checks, warnings }),
  },
});

export const getMetrics = endpoint({
  name: "instance.metrics",
  method: "GET",
  path: "/metrics",
  summary: "Read metrics in the Prometheus text format",
  description: "Requests, attempts, waiting emails and delays. docs/self-hosting.md lists all metrics.",
  caller: "anyone",
  envelope: "raw",
  responses: { 200: z.string() },
  errors: ["UNAUTHORIZED", "FORBIDDEN"],
});

export const getOpenApi = endpoint({
  name: "instance.openapi",
  method: "GET",
  path: "/openapi.json",
  summary: "Read this API as OpenAPI 3.1",
  description: "This document.",
  caller: "anyone",
  envelope: "raw",
  contentType: "application/json",
  responses: { 200: z.string() },
});

/** In the order of the documentation. */
export const INSTANCE_ENDPOINTS = [getConfig, getHealth, getReadiness, getMetrics, getOpenApi] as const;

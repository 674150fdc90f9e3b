// HTTP routes of billing. They return 404 while it is off.
import * as limits from "@postloft/contract/limits/billing.ts";
import * as contract from "@postloft/contract/billing.ts";
import { actorOf } from "../audit/audit-log.ts";
import type { Database } from "../platform/database/database.ts";
import { ok, route, type Route } from "../platform/http/route.ts";
import { AppError } from "../platform/app-error.ts";
import { listInvoices, openPortal, readUsageAndInvoice, startCheckout } from "./billing.ts";
import { readCaps, updateCaps } from "./caps.ts";
import { storeEvent } from "./follow-subscriptions.ts";
import { checkSignature, type Billing } from "./stripe.ts";

export interface BillingDependencies {
  database: Database;
  /** Null if billing is off. */
  billing: Billing | null;
  baseUrl: () => string;
}

export function billingRoutes({ database, billing, baseUrl }: BillingDependencies): Route[] {
  const returnUrl = (projectId: string) => `${baseUrl()}/app/${projectId}/settings?tab=usage`;
  return [
    route(contract.startCheckout, async (call) => {
      const { projectId, query } = call;
      const asked = { projectId, actor: actorOf(call), currency: query.currency };
      return ok(
        await startCheckout(database, neededOf(billing), { ...asked, returnUrl: returnUrl(projectId) }),
      );
    }),
    route(contract.openPortal, async ({ projectId }) =>
      ok(await openPortal(database, neededOf(billing), { projectId, returnUrl: returnUrl(projectId) })),
    ),
    route(contract.listInvoices, async ({ projectId }) =>
      ok(await listInvoices(database, neededOf(billing), projectId)),
    ),
    route(limits.getBillingLimits, async ({ projectId }) => ok(await readCaps(database, projectId))),
    route(limits.updateBillingLimits, async (call) => {
      const { projectId, body, commit } = call;
      return commit(async (tx) => {
        await updateCaps(tx, projectId, body, actorOf(call));
        return ok(await readCaps(tx, projectId));
      });
    }),
    route(limits.getConsumption, async ({ projectId }) =>
      ok(await readUsageAndInvoice(database, billing, projectId)),
    ),
    route(contract.receiveStripe, async ({ body, rawBody, headers }) => {
      checkSignature(neededOf(billing), rawBody, headers["stripe-signature"]);
      await storeEvent(database, body);
      return ok({ received: true });
    }),
  ];
}

/** @throws AppError RESOURCE_NOT_FOUND while billing is off */
function neededOf(billing: Billing | null): Billing {
  if (billing === null)
    throw new AppError("RESOURCE_NOT_FOUND", { message: "Billing is turned off on this installation." });
  return billing;
}

// HTTP routes of the public pages. Visitors are not signed in, so the token in the link is the only credential.
import * as contract from "@postloft/contract/pages.ts";
import { asUnavailable } from "../../platform/database/database.ts";
import { route, type HttpResponse, type Call, type Route } from "../../platform/http/route.ts";
import { pageHeaders } from "../../platform/http/public-page.ts";
import { AppError } from "../../platform/app-error.ts";
import type { LinkPurpose } from "../links.ts";
import type { Form } from "./rules.ts";
import type { Page, SubscriptionPages, Visit } from "./subscription-pages.ts";

interface PageCall extends Pick<Call<typeof contract.unsubscribe>, "commit" | "ip" | "headers"> {
  params: { token: string };
  body: Form;
}

export function pageRoutes({ pages }: { pages: SubscriptionPages }): Route[] {
  const show = (purpose: LinkPurpose) => async (call: Pick<PageCall, "params" | "headers">) => {
    const visit = visitOf(purpose, call);
    return responseOf(await pages.show(visit).catch((error: unknown) => errorPageOrBug(pages, visit, error)));
  };
  const submit = (purpose: LinkPurpose) => async (call: PageCall) => {
    const visit = visitOf(purpose, call);
    return call
      .commit(async (tx) => responseOf(await pages.submit(tx, visit, call.body, call.ip)))
      .catch((error: unknown) => responseOf(errorPageOrBug(pages, visit, error)));
  };
  /** For pages that can subscribe. */
  const submitBounded = (purpose: LinkPurpose) => async (call: PageCall) => {
    const visit = visitOf(purpose, call);
    const refused = await pages
      .limitSubscriptions(visit, call.body, call.ip)
      .catch((error: unknown) => errorPageOrBug(pages, visit, error));
    return refused === null ? submit(purpose)(call) : responseOf(refused);
  };
  return [
    route(contract.showUnsubscribePage, show("unsubscribe")),
    route(contract.unsubscribe, submit("unsubscribe")),
    route(contract.showSubscribePage, show("subscribe")),
    route(contract.subscribe, submitBounded("subscribe")),
    route(contract.showManagePage, show("manage")),
    route(contract.manage, submitBounded("manage")),
  ];
}

function visitOf(purpose: LinkPurpose, { params, headers }: Pick<PageCall, "params" | "headers">): Visit {
  return { purpose, token: params.token, acceptLanguage: headers["accept-language"] };
}

function responseOf<Status extends number>({
  status,
  html,
  style,
  retryAfterSeconds,
}: Page<Status>): HttpResponse<Status, string> {
  const retryAfter = retryAfterSeconds === undefined ? {} : { "retry-after": String(retryAfterSeconds) };
  return { status, body: html, headers: { ...pageHeaders(style), ...retryAfter } };
}

/** Shows an error page if the database is unavailable. Our own bugs are rethrown and logged. */
function errorPageOrBug(pages: SubscriptionPages, visit: Visit, error: unknown): Page {
  if (!(asUnavailable(error) instanceof AppError)) throw error;
  return pages.problem(visit);
}

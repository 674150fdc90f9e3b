// Simulates billing with Stripe, with its real HTTP paths, form bodies, response shapes, idempotency keys, and faults on request.
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

type Shape = Record<string, unknown>;

export interface StripeFake {
  readonly url: string;
  /** `METHOD path`, in order. */
  readonly requests: readonly string[];
  /** Returns the fields last sent to a path. */
  sent(request: string): Readonly<Record<string, string>> | undefined;
  /** The customers in order of creation. */
  readonly customers: readonly string[];
  /** Sets the state of a customer's subscription from now on. */
  setSubscription(customerId: string, status: string, more?: { id?: string; created?: number }): void;
  addInvoice(customerId: string, status: string): void;
  /** Returns the ids of a customer's checkouts that can be paid. */
  openCheckouts(customer: string): string[];
  /** The recorded usage of the meter, in order. */
  readonly usage: ReadonlyArray<Readonly<Record<string, string>>>;
  /** Simulates the time after which identifiers of recorded usage expire. */
  forgetUsageNames(): void;
  /** Runs the next requests but loses their responses. */
  loseAnswers(times: number): void;
  /** Makes the next requests fail with this status; 0 closes the connection. */
  fail(status: number, times: number): void;
  /** Holds the next such request (`METHOD path`) until it may continue. */
  hold(request: string): { arrived: Promise<void>; goOn: () => void };
  close(): Promise<void>;
}

const NOW = 1_770_000_000;

const ofCustomer = <T extends { customer: string }>(all: T[], query: URLSearchParams) =>
  all.filter(({ customer }) => customer === query.get("customer")).toReversed();

export async function startStripeFake(secretKey: string): Promise<StripeFake> {
  const requests: string[] = [];
  const bodies = new Map<string, Record<string, string>>();
  const customers: string[] = [];
  const byIdempotencyKey = new Map<string, Shape>();
  const sessions: Array<Shape & { id: string; customer: string; status: string }> = [];
  const subscriptions: Array<Shape & { id: string; customer: string }> = [];
  const invoices: Array<Shape & { customer: string }> = [];
  const usage: Array<Record<string, string>> = [];
  const usageNames = new Set<string>();
  /** Error responses by their status. */
  const errors = new WeakMap<Shape, number>();
  const fault = { status: 0, times: 0, lost: 0 };
  const held = new Map<string, { arrived: PromiseWithResolvers<void>; goOn: PromiseWithResolvers<void> }>();

  const list = (url: string, data: Shape[]) => ({ object: "list", url, has_more: false, data });

  function appError(status: number, error: Shape): Shape {
    const shape = { error: { type: "invalid_request_error", ...error } };
    errors.set(shape, status);
    return shape;
  }

  function takeUsage(body: Record<string, string>): Shape {
    const { identifier = "" } = body;
    if (usageNames.has(identifier))
      return appError(400, { message: `An event already exists with identifier ${identifier}.` });
    usageNames.add(identifier);
    usage.push(body);
    return { object: "billing.meter_event", created: NOW, identifier, livemode: false };
  }

  function upcoming({ subscription }: Record<string, string>): Shape {
    const found = subscriptions.find(({ id }) => id === subscription);
    return found === undefined || found["status"] === "canceled"
      ? appError(404, { code: "invoice_upcoming_none", message: "No upcoming invoices for customer" })
      : { ...invoiceShape("upcoming_in_1", "draft"), id: undefined, customer: found.customer };
  }

  function respond(request: string, query: URLSearchParams, body: Record<string, string>): Shape | null {
    if (request === "POST /v1/customers") {
      customers.push(`cus_test${customers.length + 1}`);
      return { id: customers.at(-1), object: "customer", created: NOW, livemode: false, email: null };
    }
    if (request === "POST /v1/checkout/sessions") {
      const id = `cs_test_${sessions.length + 1}`;
      const url = `https://checkout.stripe.com/c/pay/${id}`;
      const session = { id, object: "checkout.session", mode: "subscription", status: "open", url };
      sessions.push({ ...session, customer: body["customer"] ?? "", currency: body["currency"] ?? "usd" });
      return sessions.at(-1) ?? null;
    }
    const expired = /^POST \/v1\/checkout\/sessions\/(\w+)\/expire$/.exec(request)?.[1];
    const session = sessions.find(({ id }) => id === expired);
    if (session !== undefined) return Object.assign(session, { status: "expired", url: null });
    if (request === "GET /v1/checkout/sessions")
      return list(
        "/v1/checkout/sessions",
        ofCustomer(sessions, query).filter(({ status }) => status === "open"),
      );
    if (request === "POST /v1/billing_portal/sessions")
      return {
        id: "bps_1",
        object: "billing_portal.session",
        url: "https://billing.stripe.com/p/session/test_1",
      };
    if (request === "GET /v1/subscriptions")
      return list("/v1/subscriptions", ofCustomer(subscriptions, query));
    if (request === "POST /v1/billing/meter_events") return takeUsage(body);
    if (request === "POST /v1/invoices/create_preview") return upcoming(body);
    if (request === "GET /v1/invoices") return list("/v1/invoices", ofCustomer(invoices, query));
    return null;
  }

  const server = createServer((incoming: IncomingMessage, outgoing: ServerResponse) => {
    void (async () => {
      const text = await readBody(incoming);
      const url = new URL(incoming.url ?? "/", "http://stripe.test");
      const request = `${incoming.method} ${url.pathname}`;
      const body = Object.fromEntries(new URLSearchParams(text));
      requests.push(request);
      bodies.set(request, body);
      const pause = held.get(request);
      held.delete(request);
      pause?.arrived.resolve();
      await pause?.goOn.promise;
      const reply = (status: number, shape: Shape) =>
        outgoing
          .writeHead(status, { "content-type": "application/json", "request-id": `req_${requests.length}` })
          .end(JSON.stringify(shape));
      if (fault.times > 0) {
        fault.times--;
        if (fault.status === 0) incoming.socket.destroy();
        else reply(fault.status, { error: { type: "api_error", message: "An unknown error occurred" } });
        return;
      }
      if (incoming.headers.authorization !== `Bearer ${secretKey}`) {
        reply(401, {
          error: { type: "invalid_request_error", message: "Invalid API Key provided: sk_test_****" },
        });
        return;
      }
      const key =
        incoming.method === "POST" ? `${request} ${String(incoming.headers["idempotency-key"])}` : "";
      const shape = byIdempotencyKey.get(key) ?? respond(request, url.searchParams, body);
      if (shape === null) {
        reply(404, {
          error: { type: "invalid_request_error", message: `Unrecognized request URL (${request})` },
        });
        return;
      }
      if (key !== "") byIdempotencyKey.set(key, shape);
      if (fault.lost > 0) {
        fault.lost--;
        incoming.socket.destroy();
        return;
      }
      const refused = errors.get(shape);
      reply(refused ?? 200, shape);
    })();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    customers,
    sent: (request) => bodies.get(request),
    setSubscription(customer, status, { id = "sub_1", created = NOW } = {}) {
      const known = subscriptions.find((one) => one.id === id && one.customer === customer);
      if (known !== undefined) known["status"] = status;
      else subscriptions.push({ id, object: "subscription", customer, status, created, livemode: false });
    },
    addInvoice(customer, status) {
      const id = `in_${invoices.length + 1}`;
      invoices.push({ ...invoiceShape(id, status), customer });
    },
    openCheckouts: (customer) =>
      sessions.filter((one) => one.customer === customer && one.status === "open").map(({ id }) => id),
    usage,
    forgetUsageNames: () => usageNames.clear(),
    loseAnswers: (times) => void Object.assign(fault, { lost: times }),
    fail: (status, times) => void Object.assign(fault, { status, times }),
    hold(request) {
      const pause = { arrived: Promise.withResolvers<void>(), goOn: Promise.withResolvers<void>() };
      held.set(request, pause);
      return { arrived: pause.arrived.promise, goOn: pause.goOn.resolve };
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function invoiceShape(id: string, status: string): Shape {
  const amounts = {
    amount_due: 2900,
    amount_paid: status === "paid" ? 2900 : 0,
    subtotal: 2900,
    total: 2900,
  };
  const times = { created: NOW, period_start: NOW - 2_592_000, period_end: NOW };
  const address = `https://invoice.stripe.com/i/${id}`;
  const pages = { hosted_invoice_url: address, invoice_pdf: `${address}/pdf` };
  return {
    id,
    object: "invoice",
    number: `ABC-${id}`,
    status,
    currency: "usd",
    ...amounts,
    ...times,
    ...pages,
  };
}

async function readBody(incoming: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

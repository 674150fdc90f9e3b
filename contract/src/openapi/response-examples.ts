// Examples of success responses: recorded ones, and those that need a situation or a service that recording cannot provide.
import RECORDED from "../answer-examples.json" with { type: "json" };
import { INSTALLATION_EXAMPLES } from "./installation-examples.ts";

const ID = "0199e0a1-7b2c-7d3e-8f40-5a6b7c8d9e0f";
const AT = "2026-10-01T09:00:00.000Z";

const campaign = RECORDED["campaigns.get"];
const execution = RECORDED["executions.get"];
const account = RECORDED["auth.login"];
const throttledDomain = {
  destination: "gmail",
  domains: ["gmail.com", "googlemail.com"],
  answer: "550 5.7.26 This email has been blocked because the sender is unauthenticated.",
  since: AT,
  nextTryAt: "2026-10-01T10:00:00.000Z",
  whatToDo: "Set up SPF and DKIM for mail.example.com.",
};
const passkey = { id: ID, name: "Laptop", createdAt: AT, lastUsedAt: null };
const recoveryCodes = { recoveryCodes: ["k3vq-81tz-m0ya", "9d2f-x7hn-4wce"] };
const invoice = {
  id: "in_1TExample",
  number: "ACME-0007",
  status: "paid",
  amountDue: 2900,
  amountPaid: 2900,
  subtotal: 2900,
  total: 2900,
  currency: "eur",
  created: AT,
  periodStart: "2026-09-01T00:00:00.000Z",
  periodEnd: "2026-10-01T00:00:00.000Z",
  hostedInvoiceUrl: "https://invoice.example.com/in_1TExample",
  invoicePdf: "https://invoice.example.com/in_1TExample.pdf",
  paid: true,
};
const listedDelivery = {
  id: ID,
  number: 1,
  type: "order placed",
  state: "failed",
  tries: 20,
  nextTryAt: null,
  status: 500,
  error: "The endpoint responded with 500.",
  durationMs: 112,
  createdAt: AT,
  endedAt: "2026-10-04T09:00:12.000Z",
};
const delivery = {
  ...listedDelivery,
  request: {
    method: "POST",
    url: "https://hooks.example.com/postloft",
    body: RECORDED["events.stream"].events[0],
  },
  responseBody: "Something went wrong.",
};
const page = (title: string, text: string) =>
  `<!doctype html>\n<html lang="en"><head><title>${title}</title></head><body><p>${text}</p></body></html>`;

/** JSON responses that a new installation cannot give, by endpoint name, or by name and status. A test lists the reason for each. */
export const WRITTEN_EXAMPLES: Readonly<Record<string, unknown>> = {
  "auth.completeSignup": account,
  "auth.passkeyLogin": account,
  "auth.resetPassword": { success: true, data: { message: "Your password is changed." } },
  "auth.signup 202": {
    success: true,
    data: { message: "We sent you a link to confirm your email address." },
  },
  "auth.verifyEmail": account,
  "billing.checkout": { url: "https://checkout.example.com/c/pay/cs_1TExample" },
  "billing.invoices": { invoices: [invoice], hasUnpaidInvoices: false, unpaidInvoices: [] },
  "billing.portal": { url: "https://billing.example.com/p/session/bps_1TExample" },
  "campaigns.pause": { ...campaign, status: "PAUSED", sentAt: null },
  "campaigns.release": { ...campaign, status: "SENDING", sentAt: null },
  "campaigns.resolve": { ...campaign, resolvedCount: 1 },
  "campaigns.resume": { ...campaign, status: "SENDING", sentAt: null },
  "campaigns.retryFailed": { ...campaign, status: "SENDING", sentAt: null },
  "emails.release": { data: [throttledDomain] },
  "emails.resolve": { ...RECORDED["emails.get"], status: "SENT" },
  "emails.returned": {
    data: [
      {
        receivedAt: AT,
        from: "mailer-daemon@example.com",
        subject: "Undelivered Mail Returned to Sender",
        text: "The mailbox of ada@example.com is full.",
      },
    ],
  },
  "executions.listFailures": {
    data: [
      {
        stepId: ID,
        stepName: "Create invoice",
        stepType: "WEBHOOK",
        cause: "5e1f9c2ab7d04863",
        error: "The endpoint responded with 503.",
        count: 12,
        newestAt: AT,
        example: { executionId: ID, contact: { id: ID, email: "ada@example.com" } },
      },
    ],
    total: 12,
    countedAt: AT,
  },
  "executions.retry": execution,
  "executions.retryStep": { count: 12 },
  "executions.skip": execution,
  "executions.skipStep": { count: 12 },
  "executions.start 202": { message: "The contacts of the segment start in the background.", jobId: ID },
  ...INSTALLATION_EXAMPLES,
  "invitations.accept": { success: true, data: { projectId: ID, role: "ADMIN" } },
  "mailbox.system": {
    data: [
      {
        id: ID,
        to: "ada@example.com",
        subject: "Confirm your email address",
        text: "Confirm that ada@example.com is your email address.",
        html: "<p>Confirm that ada@example.com is your email address.</p>",
        sentAt: AT,
      },
    ],
    cursor: null,
    hasMore: false,
    total: 1,
  },
  "webhooks.getDelivery": delivery,
  "webhooks.listDeliveries": { data: [listedDelivery], cursor: null, hasMore: false },
  "webhooks.resendDelivery": { ...delivery, state: "waiting", tries: 0, nextTryAt: AT, endedAt: null },
  "webhooks.testEndpoint": { status: 200, error: null },
  "notifications.testWebhook": { success: true, data: { status: 200, error: null } },
  "projects.testTransport": {
    error: null,
    serverName: "smtp.example.com",
    tls: "TLSv1.3",
    login: "accepted",
  },
  "projects.enable": RECORDED["projects.update"],
  "users.addPasskey": passkey,
  "users.confirmSecondFactor": recoveryCodes,
  "users.renamePasskey": { ...passkey, name: "Old laptop" },
  "users.renewRecoveryCodes": recoveryCodes,
};

/** Responses that are not JSON, by endpoint name. */
export const TEXT_EXAMPLES: Readonly<Record<string, unknown>> = {
  "accountPages.reset": page("Password changed", "You can sign in with your new password."),
  "accountPages.showReset": page("New password", "Choose a new password for ada@example.com."),
  "accountPages.showSignUp": page("Create your account", "Choose a password for ada@example.com."),
  "accountPages.showVerify": page(
    "Confirm your email",
    "Confirm that ada@example.com is your email address.",
  ),
  "accountPages.signUp": page("Account created", "You can sign in now."),
  "accountPages.verify": page("Email confirmed", "Your email address is confirmed."),
  "activity.stream": `event: activity\nid: ${ID}\ndata: ${JSON.stringify(RECORDED["activity.list"].data[0])}\n\n`,
  "analytics.export": "name,count,previousCount,trend\r\norder placed,42,40,0.05\r\n",
  "campaigns.exportRecipients": `id,contactId,email,status,reason,attempts,sentAt,deliveredAt,openedAt,clickedAt,bouncedAt,complainedAt\r\n${ID},,ada@example.com,DELIVERED,,1,${AT},${AT},,,,\r\n`,
  "contacts.exportAll": `email,subscribed,createdAt,plan\r\nada@example.com,true,${AT},pro\r\n`,
  "contacts.getImportErrors": 'email,plan,row,error\r\nno address,pro,3,"The address has no ""@""."\r\n',
  "events.streamLive": `id: 1\ndata: ${JSON.stringify(RECORDED["events.stream"].events[0])}\n\n`,
  "installation.downloadBackup": "The bytes of a gzip file.",
  "instance.metrics": 'postloft_http_request_seconds_count{method="POST",route="/v1/send",status="200"} 42\n',
  "instance.openapi": { openapi: "3.1.0", info: { title: "Postloft", version: "0.1.0" }, paths: {} },
  "mailbox.getRaw":
    "From: Example <hello@mail.example.com>\r\nTo: ada@example.com\r\nSubject: Your order A-1042\r\n\r\nThank you, Ada.\r\n",
  "oauth.finish": page("Sign-in code", "Enter the code from the email."),
  "pages.manage": page("Your subscription", "ada@example.com no longer gets email from Example."),
  "pages.showManage": page("Your subscription", "ada@example.com gets email from Example."),
  "pages.showSubscribe": page("Subscribe", "Do you want email from Example at ada@example.com?"),
  "pages.showUnsubscribe": page("Unsubscribe", "Stop email from Example to ada@example.com?"),
  "pages.subscribe": page("Subscribed", "ada@example.com gets email from Example."),
  "received.getAttachment": "the bytes of the file",
  "received.getRaw":
    "From: Ada <ada@example.com>\r\nTo: us@in.example.com\r\nSubject: A question\r\n\r\nWhere is my order?\r\n",
  "suppressions.export": `email,reason,emailId,actor,createdAt\r\ngone@example.com,HARD_BOUNCE,${ID},,${AT}\r\n`,
  "uploads.open": "GIF89a…",
};

/** A success response of each described endpoint whose response has a body, by endpoint name. */
export const RESPONSE_EXAMPLES: Readonly<Record<string, unknown>> = {
  ...RECORDED,
  ...WRITTEN_EXAMPLES,
  ...TEXT_EXAMPLES,
};

// Realistic requests: a body for each endpoint with a body, and path parameters. A test parses each body with its endpoint's schema.
import { OTHER_BODIES } from "./installation-examples.ts";

/** By endpoint name. */
export const EXAMPLE_BODIES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "events.track": { email: "ada@example.com", event: "order placed", data: { plan: "pro" } },
  "v1.track": { email: "ada@example.com", event: "signed-up", data: { firstName: "Ada", plan: "pro" } },
  "v1.send": {
    to: { name: "Ada Lovelace", email: "ada@example.com" },
    from: { name: "Example", email: "hello@mail.example.com" },
    subject: "Your order {{order}}",
    body: '<p>Thank you, {{firstName ?? "friend"}}.</p>',
    data: { firstName: "Ada", order: { value: "A-1042", persistent: false } },
  },
  "v1.sendBatch": {
    emails: [
      {
        to: "ada@example.com",
        from: "hello@mail.example.com",
        subject: "Your order A-1042",
        body: "<p>Thank you, Ada.</p>",
        idempotencyKey: "order-A-1042",
      },
      { to: "bob@example.com", template: "0199e0a1-7b2c-7d3e-8f40-5a6b7c8d9e0f" },
    ],
  },
  "received.reply": { from: "hello@mail.example.com", body: "<p>It will arrive on Monday.</p>" },
  "v1.verify": { email: "ada@example.com" },
  "contacts.upsert": { email: "ada@example.com", subscribed: true, data: { firstName: "Ada" } },
  "contacts.update": { subscribed: false, data: { plan: null } },
  "contacts.lookup": { emails: ["ada@example.com", "nobody@example.com"] },
  "contacts.createView": {
    name: "Pro readers",
    query: { subscribed: true, search: "@example.com", sort: "email", dir: "asc", fields: ["plan"] },
  },
  "contacts.updateView": { name: "Readers on pro" },
  "suppressions.add": { emails: ["gone@example.com"] },
  "templates.create": {
    name: "Welcome",
    type: "MARKETING",
    subject: 'Welcome, {{firstName ?? "friend"}}',
    body: '<p>Good to have you here, {{firstName ?? "friend"}}.</p>',
    from: "hello@mail.example.com",
    fromName: "Example",
  },
  "uploads.update": { alt: "The logo of Acme" },
  "templates.update": { subject: 'Hello, {{firstName ?? "friend"}}', replyTo: null },
  "templates.saveVariant": {
    subject: 'Willkommen, {{firstName ?? "Gast"}}',
    body: '<p>Schön, dass Sie da sind, {{firstName ?? "Gast"}}.</p>',
  },
  "templates.test": { email: "ada@example.com", from: "hello@example.com" },
  "templates.preview": {
    subject: 'Welcome, {{firstName ?? "friend"}}',
    body: '<p>Good to have you here, {{firstName ?? "friend"}}.</p>',
    type: "MARKETING",
    data: { firstName: "Ada" },
  },
  "contacts.search": {
    filters: {
      operator: "AND",
      conditions: [
        { field: "data.plan", operator: "equals", value: "pro" },
        { field: "event.signed-in", operator: "triggeredWithin", value: 30, unit: "days" },
      ],
    },
    subscribed: true,
    sort: "email",
  },
  "contacts.bulkSubscribe": { contactIds: ["0199e0a1-7b2c-7d3e-8f40-5a6b7c8d9e0f"] },
  "contacts.bulkUnsubscribe": { mode: "query", filter: { search: "@example.org" } },
  "contacts.bulkDelete": { contactIds: ["0199e0a1-7b2c-7d3e-8f40-5a6b7c8d9e0f"] },
  "contacts.bulkUpdate": { mode: "query", filter: { search: "@example.org" }, data: { plan: "pro" } },
  "contacts.bulkAddToSegment": { all: true, targetSegmentId: "0199e0a1-7b2c-7d3e-8f40-5a6b7c8d9e0f" },
  "segments.create": {
    name: "Active on pro",
    filters: {
      operator: "AND",
      conditions: [
        { field: "data.plan", operator: "equals", value: "pro" },
        { field: "event.signed-in", operator: "triggeredWithin", value: 30, unit: "days" },
      ],
    },
    trackMembership: true,
  },
  "segments.update": { name: "Active on pro, last 30 days" },
  "segments.preview": {
    filters: { operator: "AND", conditions: [{ field: "data.plan", operator: "equals", value: "pro" }] },
  },
  "segments.explain": {
    filters: { operator: "AND", conditions: [{ field: "data.plan", operator: "equals", value: "pro" }] },
    contactId: "0199e0a1-7b2c-7d3e-8f40-5a6b7c8d9e0f",
  },
  "segments.addMembers": { emails: ["ada@example.com"], createMissing: true },
  "segments.removeMembers": { emails: ["ada@example.com"] },
  "workflows.create": { name: "Welcome", eventName: "signed-up" },
  "workflows.import": {
    format: "postloft.workflow",
    formatVersion: 1,
    name: "Welcome",
    description: null,
    triggerType: "EVENT",
    triggerConfig: { eventName: "signed-up" },
    allowReentry: false,
    steps: [
      { key: "1", type: "TRIGGER", name: "Trigger", config: {}, position: null },
      { key: "2", type: "DELAY", name: "A day", config: { amount: 1, unit: "days" }, position: null },
    ],
    transitions: [{ from: "1", to: "2", branch: null, priority: 0 }],
    templates: [],
    segments: [],
  },
  "workflows.update": { enabled: true },
  "workflows.addStep": {
    type: "DELAY",
    name: "A day",
    config: { amount: 1, unit: "days" },
    autoConnect: true,
  },
  "workflows.updateStep": {
    config: { until: "09:00", timezone: "Europe/Berlin", weekdays: [1, 2, 3, 4, 5] },
  },
  "workflows.pasteSteps": {
    copied: {
      format: "postloft.steps",
      formatVersion: 1,
      steps: [
        { key: "1", type: "DELAY", name: "A day", config: { amount: 1, unit: "days" }, position: null },
        { key: "2", type: "EXIT", name: "End", config: {}, position: null },
      ],
      transitions: [{ from: "1", to: "2", branch: null, priority: 0 }],
      templates: [],
      segments: [],
    },
    fromStepId: "0199e0a1-7b2c-7d3e-8f40-5a6b7c8d9e0f",
  },
  "workflows.undo": { revision: 7, expectedRevision: 8 },
  "workflows.insertStep": {
    type: "CONDITION",
    name: "On pro?",
    config: { field: "data.plan", operator: "equals", value: "pro" },
  },
  "workflows.addTransition": {
    fromStepId: "0199e0a1-7b2c-7d3e-8f40-5a6b7c8d9e0f",
    toStepId: "0199e0a1-7b2c-7d3e-8f40-5a6b7c8d9e10",
    branch: "yes",
  },
  "workflows.why": { contactId: "0199e0a1-7b2c-7d3e-8f40-5a6b7c8d9e0f" },
  "workflows.simulate": {
    contact: { email: "ada@example.com", data: { plan: "pro" } },
    events: [{ name: "order placed", at: "2027-01-31T12:00:00Z", data: { total: 42 } }],
    from: "2027-01-30T09:00:00Z",
  },
  "workflows.replay": { limit: 100 },
  "workflows.move": { versions: [1], applyDelays: true },
  "executions.start": { contactId: "0199e0a1-7b2c-7d3e-8f40-5a6b7c8d9e0f", context: { plan: "pro" } },
  "campaigns.create": {
    name: "October news",
    subject: 'News for {{firstName ?? "you"}}',
    body: '<p>Hello {{firstName ?? "friend"}}, here is what is new.</p>',
    from: "news@mail.example.com",
    fromName: "Example",
    audienceType: "ALL",
  },
  "campaigns.release": { destination: "gmail" },
  "campaigns.replace": {
    name: "October news",
    subject: 'What is new, {{firstName ?? "friend"}}',
    body: '<p>Hello {{firstName ?? "friend"}}, here is what is new.</p>',
    from: "news@mail.example.com",
    audienceType: "ALL",
  },
  "campaigns.resolve": { as: "retry", ids: ["0198c0de-7000-7000-8000-000000000001"] },
  "emails.release": { destination: "gmail" },
  "emails.resolve": { as: "sent" },
  "emails.reschedule": { scheduledFor: "2026-12-24T18:00:00+01:00" },
  "campaigns.send": { scheduledFor: "2100-10-01T09:00:00+02:00" },
  "campaigns.test": { email: "ada@example.com" },
  "pages.unsubscribe": { "List-Unsubscribe": "One-Click" },
  "pages.subscribe": { action: "subscribe" },
  "pages.manage": { action: "unsubscribe" },
  "keys.create": {
    name: "Newsletter form",
    scopes: ["contacts:write", "segments:read"],
    networks: ["192.0.2.0/24"],
  },
  "members.add": { email: "grace@example.com", role: "ADMIN" },
  "members.changeRole": { role: "MEMBER" },
  "members.transferOwnership": { userId: "01890a5d-ac96-774b-bcce-b302099a8057" },
  "invitations.signUp": { password: "a long password nobody guesses" },
  "domains.create": { domain: "mail.example.com" },
  "domains.update": { ed25519: true },
  "domains.setLinkDomain": { domain: "go.example.com" },
  "auth.completeSignup": {
    token: "m3qLk0Yx2oXb7nUe5hRw9tPz1sVc4dJf6gKa8iQyBwE",
    password: "correct horse battery",
  },
  "auth.signup": { email: "ada@example.com", password: "correct horse battery" },
  "notifications.update": { "weekly-summary": true },
  "notifications.setWebhook": { url: "https://hooks.example.com/postloft" },
  "webhooks.createEndpoint": { url: "https://hooks.example.com/postloft", eventTypes: ["email.*"] },
  "webhooks.replay": { after: 0 },
  "webhooks.updateEndpoint": { enabled: false },
  "oauth.code": { code: "492039" },
  "auth.passkeyLogin": {
    passkey: {
      id: "Yy5wYXNza2V5LTE",
      type: "public-key",
      response: {
        clientDataJSON:
          "eyJ0eXBlIjoid2ViYXV0aG4uZ2V0IiwiY2hhbGxlbmdlIjoiYyIsIm9yaWdpbiI6Imh0dHBzOi8vcG9zdC5leGFtcGxlLmNvbSJ9",
        authenticatorData: "SZYN5YgOjGh0NBcPZHZgW4_krrmihjLHmVzzuoMdl2MFAAAAAQ",
        signature: "MEUCIQDKo",
        userHandle: "AZngoXssfT6PQAAAAAAAAQ",
      },
    },
  },
  "users.addPasskey": {
    name: "Laptop",
    passkey: {
      id: "Yy5wYXNza2V5LTE",
      type: "public-key",
      response: {
        clientDataJSON:
          "eyJ0eXBlIjoid2ViYXV0aG4uY3JlYXRlIiwiY2hhbGxlbmdlIjoiYyIsIm9yaWdpbiI6Imh0dHBzOi8vcG9zdC5leGFtcGxlLmNvbSJ9",
        attestationObject: "o2NmbXRkbm9uZWdhdHRTdG10oGhhdXRoRGF0YQ",
        transports: ["internal"],
      },
    },
  },
  "users.update": { language: "fr" },
  "users.renamePasskey": { name: "Old laptop" },
  "accountPages.signUp": { password: "correct horse battery" },
  "accountPages.verify": {},
  "accountPages.reset": { newPassword: "correct horse battery" },
  "auth.verifyEmail": { token: "m3qLk0Yx2oXb7nUe5hRw9tPz1sVc4dJf6gKa8iQyBwE" },
  "auth.requestPasswordReset": { email: "ada@example.com" },
  "auth.resetPassword": {
    token: "m3qLk0Yx2oXb7nUe5hRw9tPz1sVc4dJf6gKa8iQyBwE",
    newPassword: "correct horse battery",
  },
  "users.delete": { confirm: "ada@example.com", currentPassword: "correct horse battery" },
  "users.changePassword": { currentPassword: "correct horse battery", newPassword: "staple horse battery" },
  "users.changeEmail": { currentPassword: "staple horse battery", newEmail: "ada@example.net" },
  "users.beginSecondFactor": { currentPassword: "correct horse battery" },
  "users.confirmSecondFactor": { code: "287082" },
  "users.renewRecoveryCodes": { currentPassword: "correct horse battery", code: "081804" },
  "users.endSecondFactor": { currentPassword: "correct horse battery", code: "k3vq-81tz-m0ya" },
  "billing.updateLimits": { transactional: 50_000, campaigns: null },
  "auth.login": { email: "ada@example.com", password: "correct horse battery" },
  "projects.create": { name: "Example" },
  "projects.reset": { confirm: "Example" },
  "projects.delete": { confirm: "Example" },
  ...OTHER_BODIES,
  "projects.enable": { reason: "An imported list was old; it is deleted." },
  "projects.update": { language: "pt-BR", defaultFrom: "Example <hello@mail.example.com>" },
  "webhooks.stripe": {
    id: "evt_1TExample",
    type: "customer.subscription.updated",
    created: 1_770_091_445,
    data: { object: { object: "subscription", customer: "cus_Example" } },
  },
  "webhooks.sns": {
    Type: "Notification",
    MessageId: "22b80b92-fdea-4c2c-8f9d-bdfb0c7bf324",
    TopicArn: "arn:aws:sns:eu-west-1:123456789012:mail",
    Message:
      '{"eventType":"Delivery","mail":{"messageId":"0102…"},"delivery":{"recipients":["ada@example.com"]}}',
    Timestamp: "2026-02-03T04:05:06.789Z",
    SignatureVersion: "2",
    Signature: "EXAMPLEpH+…",
    SigningCertURL:
      "https://sns.eu-west-1.amazonaws.com/SimpleNotificationService-0123456789abcdef0123456789abcdef.pem",
  },
};

/** The parts of each upload, by endpoint name. */
export const EXAMPLE_UPLOADS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "contacts.import": { file: "email,plan\nada@example.com,pro\ngrace@example.com,free\n" },
  "suppressions.import": { file: "email\ngone@example.com\n" },
  "uploads.create": { image: "GIF89a…" },
};

export const EXAMPLE_ID = "0199e0a1-7b2c-7d3e-8f40-5a6b7c8d9e0f";

/** Required parameters that are not ids, by name. */
export const EXAMPLE_PARAMETERS: Readonly<Record<string, string>> = {
  address: "gone@example.com",
  dimension: "provider",
  eventName: "order placed",
  field: "data.plan",
  key: "0199e0a17b2c7d3e8f40000000000000000000000000000000000000000000000000.gif",
  name: "postloft-2026-10-01T09-00-00Z.tar.gz",
  provider: "github",
  report: "top-events",
  token: "m3qLk0Yx2oXb7nUe5hRw9tPz1sVc4dJf6gKa8iQyBwE",
  version: "1",
};

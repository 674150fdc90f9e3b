// A request body for each endpoint that takes one, as it would be sent. A test parses each with its endpoint's schema.
// Before it: the noun files. After it: openapi.ts and the curl examples of docs/api.md.

/** By name of the endpoint. */
export const EXAMPLE_BODIES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  "events.track": { email: "ada@example.com", event: "order placed", data: { plan: "pro" } },
  "v1.track": {
    email: "ada@example.com",
    event: "signed-up",
    data: { firstName: "Ada", plan: "pro" },
  },
  "v1.send": {
    to: { name: "Ada Lovelace", email: "ada@example.com" },
    from: { name: "Example", email: "hello@mail.example.com" },
    subject: "Your order {{order}}",
    body: '<p>Thank you, {{firstName ?? "friend"}}.</p>',
    data: { firstName: "Ada", order: { value: "A-1042", persistent: false } },
  },
  "v1.verify": { email: "ada@example.com" },
  "contacts.upsert": { email: "ada@example.com", subscribed: true, data: { firstName: "Ada" } },
  "contacts.update": { subscribed: false, data: { plan: null } },
  "contacts.lookup": { emails: ["ada@example.com", "nobody@example.com"] },
  "templates.create": {
    name: "Welcome",
    type: "MARKETING",
    subject: 'Welcome, {{firstName ?? "friend"}}',
    body: '<p>Good to have you here, {{firstName ?? "friend"}}.</p>',
    from: "hello@mail.example.com",
    fromName: "Example",
  },
  "templates.update": { subject: 'Hello, {{firstName ?? "friend"}}', replyTo: null },
  "templates.preview": {
    subject: 'Welcome, {{firstName ?? "friend"}}',
    body: '<p>Good to have you here, {{firstName ?? "friend"}}.</p>',
    type: "MARKETING",
    data: { firstName: "Ada" },
  },
  "contacts.bulkSubscribe": { contactIds: ["0199e0a1-7b2c-7d3e-8f40-5a6b7c8d9e0f"] },
  "contacts.bulkUnsubscribe": { mode: "query", filter: { search: "@example.org" } },
  "contacts.bulkDelete": { contactIds: ["0199e0a1-7b2c-7d3e-8f40-5a6b7c8d9e0f"] },
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
  "campaigns.send": { scheduledFor: "2100-10-01T09:00:00+02:00" },
  "campaigns.test": { email: "ada@example.com" },
  "pages.unsubscribe": { "List-Unsubscribe": "One-Click" },
  "pages.subscribe": { action: "subscribe" },
  "pages.manage": { action: "unsubscribe" },
  "domains.create": { domain: "mail.example.com" },
  "auth.signup": { email: "ada@example.com", password: "correct horse battery" },
  "auth.login": { email: "ada@example.com", password: "correct horse battery" },
  "projects.create": { name: "Example" },
  "projects.update": { language: "pt-BR", defaultFrom: "Example <hello@mail.example.com>" },
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

// A request body for each endpoint that takes one, as it would be sent. A test parses each with its endpoint's schema.
// Before it: the noun files. After it: openapi.ts and the curl examples of docs/api.md.

/** By name of the endpoint. */
export const EXAMPLE_BODIES: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
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
  "domains.create": { domain: "mail.example.com" },
  "auth.signup": { email: "ada@example.com", password: "correct horse battery" },
  "auth.login": { email: "ada@example.com", password: "correct horse battery" },
  "projects.create": { name: "Example" },
  "projects.update": { language: "pt-BR", defaultFrom: "Example <hello@mail.example.com>" },
};

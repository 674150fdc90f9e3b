// The workflows of a lively project, created through the API.
import type { ApiClient } from "../../../e2e/api-client.ts";

const DAY_S = 86_400;

type Step = [key: string, type: string, name: string, config?: object];
/** From one step to another, by a branch if it has any. */
type Way = [from: string, to: string, branch?: string];

interface Drawn {
  name: string;
  description: string;
  eventName: string;
  allowReentry: boolean;
  isEnabled: boolean;
  folder: string;
  goal?: { eventName: string; days: number };
  steps: readonly Step[];
  ways: readonly Way[];
}

type Templates = ReadonlyMap<string, string>;

/** Returns a step that sends the template with this key. */
const email = (templates: Templates, key: string, template: string, name: string): Step => [
  key,
  "SEND_EMAIL",
  name,
  { templateId: templates.get(template) },
];
const delay = (key: string, amount: number, unit: string, name: string): Step => [
  key,
  "DELAY",
  name,
  { amount, unit },
];

const onboarding = (templates: Templates): Drawn => ({
  name: "Onboarding",
  description: "The first two weeks of everyone who signs up.",
  eventName: "signed-up",
  allowReentry: false,
  isEnabled: true,
  folder: "Customers",
  goal: { eventName: "activated", days: 14 },
  steps: [
    email(templates, "welcome", "welcome", "Welcome"),
    delay("three-days", 3, "days", "Three days"),
    ["free", "CONDITION", "On the free plan", { field: "data.plan", operator: "equals", value: "free" }],
    email(templates, "tips", "tips", "Tips"),
    email(templates, "teams", "teams", "Guide for teams"),
    ["active", "WAIT_FOR_EVENT", "Becomes active", { eventName: "activated", timeout: 4 * DAY_S }],
    ["done", "EXIT", "Active", { reason: "Active" }],
    email(templates, "help", "help", "Need a hand?"),
  ],
  ways: [
    ["trigger", "welcome"],
    ["welcome", "three-days"],
    ["three-days", "free"],
    ["free", "tips", "yes"],
    ["free", "teams", "no"],
    ["tips", "active"],
    ["active", "done", "event"],
    ["active", "help", "timeout"],
  ],
});

const abandonedCart = (templates: Templates): Drawn => ({
  name: "Abandoned cart",
  description: "A reminder after four hours without an order.",
  eventName: "cart-updated",
  allowReentry: true,
  isEnabled: true,
  folder: "Shop",
  goal: { eventName: "order-placed", days: 7 },
  steps: [
    ["order", "WAIT_FOR_EVENT", "Orders", { eventName: "order-placed", timeout: DAY_S / 6 }],
    ["ordered", "EXIT", "Ordered", { reason: "Ordered" }],
    email(templates, "reminder", "cart", "Abandoned cart"),
    delay("week", 1, "weeks", "A week"),
  ],
  ways: [
    ["trigger", "order"],
    ["order", "ordered", "event"],
    ["order", "reminder", "timeout"],
    ["reminder", "week"],
  ],
});

const receiptFollowUp = (templates: Templates): Drawn => ({
  name: "Receipt follow-up",
  description: "A question about the order, a week later.",
  eventName: "order-placed",
  allowReentry: true,
  isEnabled: true,
  folder: "Shop",
  steps: [delay("week", 1, "weeks", "A week"), email(templates, "review", "review", "Receipt follow-up")],
  ways: [
    ["trigger", "week"],
    ["week", "review"],
  ],
});

const warehouse = (): Drawn => ({
  name: "Tell the warehouse",
  description: "Reports each order to the warehouse.",
  eventName: "order-placed",
  allowReentry: true,
  isEnabled: true,
  folder: "Shop",
  steps: [
    [
      "call",
      "WEBHOOK",
      "Report the order",
      { url: "https://warehouse.nordlicht.example/orders", method: "POST" },
    ],
  ],
  ways: [["trigger", "call"]],
});

const winBack = (templates: Templates): Drawn => ({
  name: "Win-back",
  description: "For people who have not been here for a while. Not ready yet.",
  eventName: "went-away",
  allowReentry: true,
  isEnabled: false,
  folder: "Customers",
  steps: [email(templates, "miss", "help", "We miss you")],
  ways: [["trigger", "miss"]],
});

const WORKFLOWS = [onboarding, abandonedCart, receiptFollowUp, warehouse, winBack];

export interface CreatedWorkflow {
  id: string;
  name: string;
  eventName: string;
  allowReentry: boolean;
  isEnabled: boolean;
}

/** Creates the workflows, all of them disabled. */
export async function createWorkflows(api: ApiClient, templates: Templates): Promise<CreatedWorkflow[]> {
  const created: CreatedWorkflow[] = [];
  for (const { steps, ways, isEnabled, eventName, ...rest } of WORKFLOWS.map((draw) => draw(templates))) {
    const { id } = await api.post<{ id: string }>("/workflows/import", {
      format: "postloft.workflow",
      formatVersion: 1,
      ...rest,
      triggerType: "EVENT",
      triggerConfig: { eventName },
      steps: [
        { key: "trigger", type: "TRIGGER", name: "Trigger", config: {}, position: null },
        ...steps.map(([key, type, name, config = {}]) => ({ key, type, name, config, position: null })),
      ],
      transitions: ways.map(([from, to, branch = null]) => ({ from, to, branch, priority: 0 })),
      templates: [...templates].map(([name, templateId]) => ({ id: templateId, name })),
      segments: [],
    });
    created.push({ id, name: rest.name, eventName, allowReentry: rest.allowReentry, isEnabled });
  }
  return created;
}

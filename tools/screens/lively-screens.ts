// Lists the screens to picture, with what they show of a lively project.
import type { ApiClient } from "../../e2e/api-client.ts";
import type { Screen } from "../../e2e/screens.ts";
import type { Lively } from "../seed/lively/lively-project.ts";
import { CAMPAIGNS } from "../seed/lively/definitions.ts";

/** The filter that the picture of contacts shows. */
const FILTER = {
  operator: "AND",
  conditions: [
    { field: "data.plan", operator: "in", value: ["pro", "team"] },
    { field: "event.order-placed", operator: "triggeredWithin", value: 30, unit: "days" },
  ],
};

interface Found {
  contactId: string;
  executionId: string;
  emailId: string;
  stepId: string;
}

/** Finds an execution that ended well, its contact, an email that was clicked, and a step that sends one. */
async function find(api: ApiClient, workflowId: string): Promise<Found> {
  const executions = await api.get<{ data: Array<{ id: string; contactId: string }> }>(
    `/workflows/${workflowId}/executions?status=COMPLETED`,
  );
  const emails = await api.get<{ data: Array<{ id: string }> }>("/emails?status=CLICKED");
  const workflow = await api.get<{ steps: Array<{ id: string; type: string }> }>(`/workflows/${workflowId}`);
  const [execution] = executions.data;
  return {
    contactId: execution?.contactId ?? "",
    executionId: execution?.id ?? "",
    emailId: emails.data[0]?.id ?? "",
    stepId: workflow.steps.find(({ type }) => type === "SEND_EMAIL")?.id ?? "",
  };
}

/** A screen that is pictured after its choice with this name is pressed. */
export type PicturedScreen = Screen & { press?: string };

/** Returns the most telling screens. */
export async function listScreens(
  api: ApiClient,
  projectId: string,
  lively: Lively,
): Promise<PicturedScreen[]> {
  const { templates, campaigns, workflows, segmentId, endpointId } = lively;
  const project = `/${projectId}`;
  const workflowId = workflows.find(({ name }) => name === "Onboarding")?.id ?? "";
  const failingId = workflows.find(({ name }) => name === "Tell the warehouse")?.id ?? "";
  const { contactId, executionId, emailId, stepId } = await find(api, workflowId);
  const draftId = campaigns[CAMPAIGNS.length - 1];
  const sentId = campaigns[CAMPAIGNS.findIndex(({ name }) => name === "Ten percent off")];
  const filtered = `fields=plan,city&filter=${encodeURIComponent(JSON.stringify(FILTER))}`;
  const inProject = (name: string, path: string): Screen => ({ name, path: `${project}${path}` });
  return [
    { name: "start-page", path: "/", isOutside: true, isOwnPage: true },
    { name: "mailbox", path: "/mailbox", isOutside: true, isOwnPage: true },
    { name: "sign-in", path: "/sign-in", isOutside: true },
    inProject("home", ""),
    inProject("contacts", `/contacts?${filtered}`),
    inProject("contact", `/contacts/${contactId}`),
    inProject("segment", `/segments/${segmentId}`),
    inProject("templates", "/templates"),
    inProject("template", `/templates/${templates.get("welcome")}`),
    inProject("campaigns", "/campaigns"),
    inProject("campaign-content", `/campaigns/${draftId}?step=content`),
    inProject("campaign-review", `/campaigns/${draftId}?step=review`),
    { ...inProject("campaign-report", `/campaigns/${sentId}`), press: "First 2 days" },
    inProject("campaign-clicks", `/campaigns/${sentId}?view=clicks`),
    inProject("workflows", "/workflows"),
    inProject("workflow", `/workflows/${workflowId}`),
    inProject("workflow-step", `/workflows/${workflowId}?step=${stepId}`),
    inProject("workflow-executions", `/workflows/${workflowId}?tab=executions`),
    inProject("workflow-failures", `/workflows/${failingId}?tab=executions`),
    inProject("execution", `/workflows/${workflowId}/executions/${executionId}`),
    inProject("activity", "/activity"),
    inProject("requests", "/activity?view=requests&outcome=4xx"),
    inProject("emails", "/emails"),
    inProject("email", `/emails/${emailId}`),
    inProject("received-emails", "/emails?received=list"),
    inProject("reports", "/reports?days=90"),
    inProject("reports-deliverability", "/reports?about=deliverability"),
    inProject("reports-audience", "/reports?about=audience"),
    inProject("segments", "/segments"),
    inProject("keys", "/keys"),
    inProject("settings-brand", "/settings?tab=brand"),
    inProject("settings-webhook-endpoint", `/settings?tab=webhooks&endpoint=${endpointId}`),
    inProject("settings-usage", "/settings?tab=usage"),
    inProject("settings-suppressions", "/settings?tab=suppressions"),
    { name: "installation", path: "/installation" },
  ];
}

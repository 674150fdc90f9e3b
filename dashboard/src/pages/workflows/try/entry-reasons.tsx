// Explains in words whether a contact would enter a workflow now, with links to the cause.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Check, Hourglass, X } from "lucide-react";
import type { ReactNode } from "react";
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { ApiResponse } from "../../../api/address.ts";
import { api } from "../../../api/endpoints.ts";
import { query } from "../../../api/query.ts";
import { t } from "../../../text/t.ts";
import { formatInstant } from "../../../ui/format.ts";
import { Failure, Skeleton } from "../../../ui/states.tsx";
import { segmentsQuery } from "../../segments/segment-queries.ts";
import { startEventOf } from "../start-event.ts";
import type { Workflow } from "../workflow-queries.ts";
import { useSegmentNames } from "../use-segment-names.ts";
import { lastEventQuery } from "./use-trial.ts";

type Reason = ApiResponse<typeof api.workflows.why>["reasons"][number];

interface EntryProps {
  projectId: string;
  workflow: Workflow;
  contact: { id: string; email: string };
}

export function EntryReasons(props: EntryProps) {
  const { projectId, workflow, contact } = props;
  const why = useQuery(
    query(
      api.workflows.why,
      { projectId, params: { id: workflow.id }, body: { contactId: contact.id } },
      workflow.updatedAt,
    ),
  );
  const segments = useQuery(segmentsQuery(projectId));
  const event = startEventOf(workflow);
  const events = useStartEvents(projectId, contact.id, event);
  if (why.isPending || segments.isPending || (event !== undefined && events.isPending))
    return <Skeleton className="h-32" />;
  if (why.isError) return <Failure error={why.error} onRetry={() => void why.refetch()} />;
  const { wouldEnter, reasons } = why.data;
  // Nothing keeps the contact out, but without its first event nothing lets it in.
  const isAwaited = event !== undefined && events.data?.data.length === 0;
  return (
    <div className="text-sm">
      <p className="mb-2 font-medium">
        {!wouldEnter && t("This contact can't enter now.")}
        {wouldEnter && (isAwaited ? awaitedText(workflow, event) : t("This contact can enter now."))}
      </p>
      <ul className="flex flex-col gap-2">
        {reasons.map((reason) => (
          <li key={reason.rule} className="flex gap-2">
            <ReasonIcon holds={reason.holds} isAwaited={isAwaited && reason.rule === "trigger"} />
            <span className="min-w-0 wrap-anywhere">
              <ReasonText {...props} reason={reason} />
            </span>
          </li>
        ))}
      </ul>
    </div>
  );
}

function awaitedText({ triggerConfig }: Workflow, event: string): string {
  return triggerConfig["filter"] === undefined
    ? t("This contact enters once “{event}” happens.", { event })
    : t("This contact enters once “{event}” happens and matches the trigger's filter.", { event });
}

function ReasonIcon({ holds, isAwaited }: { holds: boolean; isAwaited: boolean }) {
  const place = "mt-0.75 shrink-0";
  if (!holds) return <X size={14} className={`${place} text-bad`} aria-label={t("Prevents entry")} />;
  if (isAwaited)
    return <Hourglass size={14} className={`${place} text-warn`} aria-label={t("Hasn't happened yet")} />;
  return <Check size={14} className={`${place} text-good`} aria-label={t("Allows entry")} />;
}

/** Returns the last event of the contact that would start the workflow. */
function useStartEvents(projectId: string, contactId: string, event: string | undefined) {
  return useQuery({ ...lastEventQuery(projectId, event ?? "", contactId), enabled: event !== undefined });
}

function ReasonText({ reason, ...props }: EntryProps & { reason: Reason }) {
  const { projectId, workflow, contact } = props;
  const { rule, holds } = reason;
  switch (rule) {
    case "enabled":
      return holds ? t("The workflow is enabled.") : t("The workflow is disabled. Enable it first.");
    case "trigger":
      return <TriggerReason {...props} holds={holds} />;
    case "segment":
    case "audience":
      return <SegmentReason {...props} reason={reason} />;
    case "reentry":
    case "active":
      return (
        <>
          {REPEATS[rule][holds ? "yes" : "no"]}{" "}
          {!holds && (
            <Link
              to="/$projectId/workflows/$workflowId"
              params={{ projectId, workflowId: workflow.id }}
              search={{ tab: "executions", contact: contact.email }}
              className={LINK}
            >
              {t("View executions")}
            </Link>
          )}
        </>
      );
    case "limit":
      return holds
        ? t("The contact is below the limit of {most} entries a day.", { most: LIMITS.entriesPerDay.value })
        : t("The contact entered {most} times within 24 hours, which is the limit.", {
            most: LIMITS.entriesPerDay.value,
          });
    case "exit":
      return holds ? (
        t("No exit condition is true.")
      ) : (
        <>
          {t("An exit condition is already true.")} <span className="text-soft">{reason.message}</span>{" "}
          <StepLink workflow={workflow}>{t("Edit trigger")}</StepLink>
        </>
      );
  }
}

const LINK = "text-accent underline";

const REPEATS = {
  reentry: {
    yes: t("The contact has never entered."),
    no: t("The contact entered before, and can enter only once."),
  },
  active: {
    yes: t("The contact isn't inside."),
    no: t("The contact is still inside."),
  },
};

/** Leads to the panel of the TRIGGER. */
function StepLink({ workflow, children }: { workflow: Workflow; children: ReactNode }) {
  const trigger = workflow.steps.find(({ type }) => type === "TRIGGER");
  if (trigger === undefined) return null;
  return (
    <Link
      from="/$projectId/workflows/$workflowId"
      to="/$projectId/workflows/$workflowId"
      search={({ view }) => ({ ...(view === undefined ? {} : { view }), step: trigger.id })}
      className={LINK}
    >
      {children}
    </Link>
  );
}

function TriggerReason({ projectId, workflow, contact, holds }: EntryProps & { holds: boolean }) {
  const event = startEventOf(workflow);
  const events = useStartEvents(projectId, contact.id, event);
  if (event === undefined) return t("Contacts enter when you start the workflow for them.");
  const last = events.data?.data[0];
  return (
    <>
      {holds
        ? t("Contacts enter when “{event}” happens.", { event })
        : t("The last “{event}” of this contact didn't match the trigger's filter.", { event })}{" "}
      {events.data !== undefined &&
        (last === undefined
          ? t("This contact has never had this event.")
          : t("Last time: {when}", { when: formatInstant(last.createdAt) }))}
      <Link
        to="/$projectId/contacts/$contactId"
        params={{ projectId, contactId: contact.id }}
        search={{}}
        className={`block w-fit ${LINK}`}
      >
        {t("View the contact's events")}
      </Link>
    </>
  );
}

function SegmentReason({ projectId, workflow, reason }: EntryProps & { reason: Reason }) {
  const segments = useSegmentNames(projectId);
  const { rule, holds } = reason;
  const id = workflow.triggerConfig["segmentId"];
  const name = typeof id === "string" ? segments.get(id) : undefined;
  const link =
    typeof id === "string" && name !== undefined ? (
      <Link to="/$projectId/segments/$segmentId" params={{ projectId, segmentId: id }} className={LINK}>
        {t("View segment")}
      </Link>
    ) : null;
  if (typeof id === "string" && name === undefined)
    return (
      <>
        {t("The segment of the trigger was deleted.")}{" "}
        <StepLink workflow={workflow}>{t("Edit trigger")}</StepLink>
      </>
    );
  if (rule === "audience")
    return (
      <>
        {holds
          ? t("The contact is in the audience of the schedule.")
          : t("The contact isn't in the audience of the schedule.")}{" "}
        {link}
      </>
    );
  return (
    <>
      {segmentText(workflow.triggerType === "SEGMENT_ENTRY", holds, name ?? "")} {link}
    </>
  );
}

function segmentText(isEntry: boolean, holds: boolean, segment: string): string {
  if (isEntry)
    return holds
      ? t("The contact enters when they join “{segment}”.", { segment })
      : t("The contact is already in “{segment}”, and would have to leave and join again.", { segment });
  return holds
    ? t("The contact enters when they leave “{segment}”.", { segment })
    : t("The contact isn't in “{segment}”, and would have to join and leave again.", { segment });
}

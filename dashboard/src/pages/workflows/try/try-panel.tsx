// The side panel that tries a workflow with a real contact, and explains whether the contact would enter.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { StepConfig } from "@postloft/contract/workflows/graph.ts";
import { problemWith } from "../../../api/call.ts";
import { api } from "../../../api/endpoints.ts";
import { query } from "../../../api/query.ts";
import { t } from "../../../text/t.ts";
import { Choices } from "../../../ui/choices.tsx";
import { Checkbox, Select, TextArea } from "../../../ui/field.tsx";
import { Failure, Skeleton } from "../../../ui/states.tsx";
import { ContactChoice, contactsQuery, type ChosenContact } from "../../mail-editor/contact-choice.tsx";
import { startEventOf } from "../start-event.ts";
import { PanelFrame } from "../steps/step-panel.tsx";
import { stepName, wayName } from "../steps/step-kinds.ts";
import type { Names } from "../steps/step-text.ts";
import type { Step, Workflow } from "../workflow-queries.ts";
import { EntryReasons } from "./entry-reasons.tsx";
import { TrialTimeline } from "./trial-timeline.tsx";
import { awaitedEvents, type Trial } from "./use-trial.ts";

interface TryPanelProps {
  projectId: string;
  workflow: Workflow;
  names: Names;
  trial: Trial;
  contactId: string | null;
  onChoose: (contact: ChosenContact) => void;
  onClose: () => void;
}

export function TryPanel(props: TryPanelProps) {
  const { projectId, workflow, trial, contactId, onChoose, onClose } = props;
  const contacts = useQuery(contactsQuery(projectId, ""));
  const contact = useQuery({
    ...query(api.contacts.get, { projectId, params: { id: contactId ?? "" } }),
    enabled: contactId !== null,
  });
  const chosen = contactId === null ? null : (contact.data ?? null);
  return (
    <PanelFrame title={t("Try the workflow")} onClose={onClose}>
      <div className="flex flex-col gap-4">
        <p className="text-sm text-soft">
          {t("Runs the saved steps for one contact, starting now. Nothing is sent or changed.")}
        </p>
        {contacts.isError && <Failure error={contacts.error} onRetry={() => void contacts.refetch()} />}
        {contacts.data?.data.length === 0 ? (
          <NoContacts projectId={projectId} />
        ) : (
          <div>
            <ContactChoice
              projectId={projectId}
              prompt={t("Choose a contact…")}
              chosen={chosen}
              look="plain"
              onChoose={(one) => {
                if (one === null) return;
                trial.setText(null);
                onChoose(one);
              }}
              isRequired
            />
          </div>
        )}
        {contact.isError && <Failure error={contact.error} />}
        {!trial.hasSteps ? (
          <p className="text-sm text-soft">{t("Add a step first. There is nothing to try yet.")}</p>
        ) : (
          <Inputs workflow={workflow} trial={trial} isChosen={chosen !== null} />
        )}
        {chosen !== null && <Results {...props} contact={chosen} />}
      </div>
    </PanelFrame>
  );
}

function NoContacts({ projectId }: { projectId: string }) {
  return (
    <p className="text-sm text-soft">
      {t("You have no contacts yet.")}{" "}
      <Link to="/$projectId/contacts" params={{ projectId }} search={{}} className="text-accent underline">
        {t("Add contacts")}
      </Link>
    </p>
  );
}

interface InputsProps {
  workflow: Workflow;
  trial: Trial;
  isChosen: boolean;
}

const DATA_ROWS = 5;

function Inputs({ workflow, trial, isChosen }: InputsProps) {
  const { text, setText, isBroken, eventNames, setEventNames, result } = trial;
  const splits = workflow.steps.filter(({ type }) => type === "RANDOM_SPLIT");
  const event = startEventOf(workflow);
  const awaited = awaitedEvents(workflow);
  if (!isChosen) return null;
  return (
    <>
      {(event !== undefined || workflow.triggerType === "MANUAL") && (
        <TextArea
          label={event === undefined ? t("Start data") : t("Data of “{event}”", { event })}
          help={t("A JSON object. Steps read it as event.*")}
          isCode
          rows={DATA_ROWS}
          value={text}
          onChange={({ target }) => setText(target.value)}
          error={
            isBroken
              ? t("Enter a JSON object, such as {example}.", { example: '{ "plan": "pro" }' })
              : problemWith(result.error, "context")
          }
        />
      )}
      {splits.map((step) => (
        <ShareChoice key={step.id} step={step} trial={trial} />
      ))}
      {awaited.length > 0 && (
        <fieldset className="flex flex-col gap-1.5 text-sm">
          <legend className="mb-1.5 font-medium">{t("Events while the contact waits")}</legend>
          {awaited.map((name) => (
            <Checkbox
              key={name}
              label={t("“{event}” happens", { event: name })}
              checked={eventNames.includes(name)}
              onChange={({ target }) =>
                setEventNames(
                  target.checked ? [...eventNames, name] : eventNames.filter((one) => one !== name),
                )
              }
            />
          ))}
        </fieldset>
      )}
    </>
  );
}

/** Chooses the share of a RANDOM_SPLIT. A trial takes the largest one until then. */
function ShareChoice({ step, trial: { splits, setSplits } }: { step: Step; trial: Trial }) {
  const { shares } = step.config as StepConfig<"RANDOM_SPLIT">;
  const largest = shares.reduce((one, other) => (other.percent > one.percent ? other : one));
  return (
    <Select
      label={t("Share at “{step}”", { step: stepName(step) })}
      options={shares.map(({ name }) => ({ value: name, label: wayName(step, name) ?? name }))}
      value={splits[step.name] ?? largest.name}
      onChange={({ target }) => setSplits({ ...splits, [step.name]: target.value })}
    />
  );
}

function Results({ contact, ...props }: TryPanelProps & { contact: ChosenContact }) {
  const { projectId, workflow, names, trial } = props;
  const [view, setView] = useState<"path" | "entry">("path");
  return (
    <section aria-label={t("Result")}>
      <Choices
        label={t("Result")}
        look="tabs"
        options={[
          { value: "path", label: t("Path") },
          { value: "entry", label: t("Why didn't they enter?") },
        ]}
        value={view}
        onChoose={setView}
      />
      {view === "entry" ? (
        <EntryReasons projectId={projectId} workflow={workflow} contact={contact} />
      ) : (
        trial.hasSteps && <Path workflow={workflow} names={names} trial={trial} />
      )}
    </section>
  );
}

function Path({ workflow, names, trial }: Pick<TryPanelProps, "workflow" | "names" | "trial">) {
  const { result, isBroken } = trial;
  const { data, isError, isPending, isPlaceholderData } = result;
  if (isError)
    return <Failure error={result.error} atInputs={["context"]} onRetry={() => void result.refetch()} />;
  if (isPending && !isBroken) return <Skeleton className="h-60" />;
  if (data === undefined) return null;
  return (
    <div aria-busy={isPlaceholderData} className={isPlaceholderData ? "opacity-60" : ""}>
      <TrialTimeline workflow={workflow} names={names} trial={data} />
    </div>
  );
}

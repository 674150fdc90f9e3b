// Asks what a starter can't know, and creates its workflow.
import { useState, type FormEvent } from "react";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Field } from "../../ui/field.tsx";
import { Failure } from "../../ui/states.tsx";
import { EventField } from "./event-field.tsx";
import { isUsable, type Inputs, type Question, type Starter } from "./starter.ts";
import { DateField } from "./steps/date-fields.tsx";
import { useStarter } from "./use-starter.ts";

interface StarterFormProps {
  projectId: string;
  starter: Starter;
  onCreated: (workflow: { id: string }) => Promise<void>;
  onClose: () => void;
}

export function StarterForm({ projectId, starter, onCreated, onClose }: StarterFormProps) {
  const [typed, setTyped] = useState<Inputs>({ event: "", field: "", goal: "", url: "" });
  const creating = useStarter(onCreated);
  const inputs = {
    event: typed.event.trim(),
    field: typed.field.trim(),
    goal: typed.goal.trim(),
    url: typed.url.trim(),
  };
  const [first] = starter.questions;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    creating.mutate({ starter, inputs });
  };
  return (
    <form onSubmit={submit} noValidate className="flex flex-col gap-4">
      {creating.isError && <Failure error={creating.error} />}
      {starter.questions.map((question) => (
        <InputField
          key={question.key}
          projectId={projectId}
          question={question}
          autoFocus={question === first}
          value={typed[question.key]}
          onChange={(text) => setTyped({ ...typed, [question.key]: text })}
        />
      ))}
      <p className="text-sm text-soft">
        {t("The workflow is disabled, so you can check the emails before anyone gets them.")}
      </p>
      <div className="flex justify-end gap-2">
        <Button look="quiet" onClick={onClose}>
          {t("Cancel")}
        </Button>
        <Button
          look="primary"
          type="submit"
          busy={creating.isPending}
          disabled={!starter.questions.every((question) => isUsable(question, inputs))}
        >
          {t("Create workflow")}
        </Button>
      </div>
    </form>
  );
}

interface InputFieldProps {
  projectId: string;
  question: Question;
  autoFocus: boolean;
  value: string;
  onChange: (text: string) => void;
}

function InputField({ projectId, question, autoFocus, value, onChange }: InputFieldProps) {
  const { key, label, help, placeholder } = question;
  const shared = { label, help, placeholder, value };
  const errorOf = (text: string) => (isFaulty(question, value) ? text : undefined);
  if (key === "url")
    return (
      <Field
        {...shared}
        type="url"
        onChange={({ target }) => onChange(target.value)}
        error={errorOf(t("Enter a full link, such as https://example.com."))}
      />
    );
  const suggested = { ...shared, projectId, autoFocus, onChange };
  return key === "field" ? (
    <DateField {...suggested} error={errorOf(t("Enter a field, such as data.trialEndsAt."))} />
  ) : (
    <EventField {...suggested} error={undefined} />
  );
}

function isFaulty(question: Question, value: string): boolean {
  const text = value.trim();
  return text !== "" && !isUsable(question, { event: text, field: text, goal: text, url: text });
}

// The goal of a workflow.
import type { Goal } from "@postloft/contract/workflows/goal.ts";
import { problemWith } from "../../../api/call.ts";
import { t } from "../../../text/t.ts";
import { Checkbox, Field } from "../../../ui/field.tsx";
import { EventField } from "../event-field.tsx";

interface GoalFieldsProps {
  projectId: string;
  goal: Goal | null;
  onChange: (goal: Goal | null) => void;
  error: unknown;
}

export function GoalFields({ projectId, goal, onChange, error }: GoalFieldsProps) {
  return (
    <fieldset className="flex flex-col gap-2.5">
      <legend className="sr-only">{t("Goal")}</legend>
      <Checkbox
        label={t("Measure a goal")}
        help={t("Counts contacts for whom an event happens within some days after they entered.")}
        checked={goal !== null}
        onChange={({ target }) => onChange(target.checked ? { eventName: "", days: 7 } : null)}
      />
      {goal !== null && (
        <>
          <EventField
            projectId={projectId}
            label={t("Goal event")}
            value={goal.eventName}
            onChange={(eventName) => onChange({ ...goal, eventName })}
            error={problemWith(error, "goal.eventName")}
          />
          <Field
            label={t("Days after entry")}
            type="number"
            min={1}
            value={Number.isNaN(goal.days) ? "" : goal.days}
            onChange={({ target }) => onChange({ ...goal, days: target.valueAsNumber })}
            error={problemWith(error, "goal.days")}
          />
          <Checkbox
            label={t("Leave the workflow when the goal is reached")}
            checked={goal.exits === true}
            onChange={({ target }) => onChange({ ...goal, exits: target.checked })}
          />
        </>
      )}
    </fieldset>
  );
}

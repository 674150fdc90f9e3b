// The inputs for the configuration of each type of step.
import type { FieldsProps } from "./step-config.ts";
import type { AddableType } from "./step-kinds.ts";
import { BranchFields } from "./branch-fields.tsx";
import { ConditionFields } from "./condition-fields.tsx";
import { DelayFields } from "./delay-fields.tsx";
import { SplitFields } from "./split-fields.tsx";
import { WaitFields } from "./wait-fields.tsx";
import { MailFields } from "./mail-fields.tsx";
import { UpdateFields } from "./update-fields.tsx";
import { WebhookFields } from "./webhook-fields.tsx";
import { t } from "../../../text/t.ts";
import { Field } from "../../../ui/field.tsx";
import { problemWith } from "../../../api/call.ts";

export function ConfigFields({ type, ...props }: FieldsProps & { type: AddableType }) {
  switch (type) {
    case "SEND_EMAIL":
      return <MailFields {...props} />;
    case "DELAY":
      return <DelayFields {...props} />;
    case "WAIT_FOR_EVENT":
      return <WaitFields {...props} />;
    case "CONDITION":
      return <ConditionFields {...props} />;
    case "BRANCH":
      return <BranchFields {...props} />;
    case "RANDOM_SPLIT":
      return <SplitFields {...props} />;
    case "UPDATE_CONTACT":
      return <UpdateFields {...props} />;
    case "WEBHOOK":
      return <WebhookFields {...props} />;
    case "EXIT":
      return <ExitFields {...props} />;
  }
}

function ExitFields({ config, onChange, error }: FieldsProps) {
  return (
    <Field
      label={t("Reason")}
      help={t("Shown in the executions that end here.")}
      value={String(config["reason"] ?? "")}
      onChange={({ target }) => onChange(target.value === "" ? {} : { reason: target.value })}
      error={problemWith(error, "config.reason")}
    />
  );
}

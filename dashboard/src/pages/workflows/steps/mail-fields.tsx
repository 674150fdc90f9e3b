// The template and recipient of a SEND_EMAIL step.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ApiResponse } from "../../../api/address.ts";
import { problemWith } from "../../../api/call.ts";
import { api } from "../../../api/endpoints.ts";
import { query } from "../../../api/query.ts";
import { t } from "../../../text/t.ts";
import { Button } from "../../../ui/button.tsx";
import { Combobox } from "../../../ui/combobox.tsx";
import { Field, Select } from "../../../ui/field.tsx";
import { MailThumbnail } from "../../../ui/mail-frame.tsx";
import { KINDS } from "../../templates/kinds.ts";
import { useOpenEmail } from "./email-dialog.tsx";
import type { FieldsProps } from "./step-config.ts";

/** The widths of thumbnails in pixels. */
const LISTED_WIDTH = 48;
const CHOSEN_WIDTH = 128;

/** The most that one page of the API returns. */
const OFFERED_TEMPLATES = "100";

/** The templates of the project, newest first. */
export function templatesQuery(projectId: string) {
  return query(api.templates.list, { projectId, query: { limit: OFFERED_TEMPLATES } });
}

interface Recipient {
  type: "CONTACT" | "CUSTOM";
  customEmail?: string;
}

export function MailFields({ projectId, config, onChange, error }: FieldsProps) {
  const { templateId = "", recipient = { type: "CONTACT" } } = config as {
    templateId?: string;
    recipient?: Recipient;
  };
  return (
    <>
      <TemplateChoice
        projectId={projectId}
        templateId={templateId}
        onChoose={(id) => onChange({ ...config, templateId: id })}
        problem={problemWith(error, "templateId") ?? problemWith(error, "config.templateId")}
      />
      <Select
        label={t("Recipient")}
        options={[
          { value: "CONTACT", label: t("The contact") },
          { value: "CUSTOM", label: t("A fixed address") },
        ]}
        value={recipient.type}
        onChange={({ target }) =>
          onChange({
            ...config,
            recipient: target.value === "CUSTOM" ? { type: "CUSTOM", customEmail: "" } : { type: "CONTACT" },
          })
        }
      />
      {recipient.type === "CUSTOM" && (
        <Field
          label={t("Email address")}
          type="email"
          value={recipient.customEmail ?? ""}
          onChange={({ target }) =>
            onChange({ ...config, recipient: { type: "CUSTOM", customEmail: target.value } })
          }
          error={problemWith(error, "config.recipient")}
        />
      )}
    </>
  );
}

/** Returns a template, also if it is too old for the list. */
function useTemplate(projectId: string, id: string) {
  return useQuery({
    ...query(api.templates.get, { projectId, params: { id } }),
    enabled: id !== "",
  }).data;
}

interface TemplateChoiceProps {
  projectId: string;
  templateId: string;
  onChoose: (id: string) => void;
  problem: string | undefined;
}

function TemplateChoice({ projectId, templateId, onChoose, problem }: TemplateChoiceProps) {
  const templates = useQuery(templatesQuery(projectId));
  const listed = templates.data?.data ?? [];
  const template = useTemplate(projectId, templateId);
  return (
    <div className="flex flex-col gap-1.5">
      <span className="text-sm font-medium">{t("Template")}</span>
      <Combobox
        label={t("Template")}
        shown={
          templateId === "" ? (
            <span className="text-faint">{t("Choose a template")}</span>
          ) : (
            <bdi>{template?.name}</bdi>
          )
        }
        groups={[
          {
            label: t("Templates"),
            items: listed.map(({ id, name, type, body }) => ({
              value: id,
              label: name,
              note: KINDS[type].label,
              picture: <MailThumbnail html={body} width={LISTED_WIDTH} className="my-1" />,
            })),
          },
        ]}
        value={templateId}
        onChoose={onChoose}
        isInvalid={problem !== undefined}
      />
      {problem !== undefined && <p className="text-sm text-bad">{problem}</p>}
      {template === undefined ? (
        <Link
          to="/$projectId/templates"
          params={{ projectId }}
          className="text-sm text-accent hover:underline"
        >
          {t("All templates")}
        </Link>
      ) : (
        <ChosenTemplate projectId={projectId} template={template} />
      )}
    </div>
  );
}

interface ChosenProps {
  projectId: string;
  template: ApiResponse<typeof api.templates.get>;
}

/** The email of the step, with a button to edit it here. */
function ChosenTemplate({ projectId, template }: ChosenProps) {
  const openEmail = useOpenEmail();
  const { id: templateId, subject, body } = template;
  return (
    <div className="flex flex-wrap gap-3 rounded-md border border-line p-2.5">
      <MailThumbnail html={body} width={CHOSEN_WIDTH} />
      <div className="flex min-w-0 flex-1 basis-32 flex-col items-start gap-1.5 text-sm">
        <bdi className="line-clamp-2 text-soft wrap-anywhere">{subject}</bdi>
        <Button onClick={() => openEmail(templateId)}>{t("Edit email")}</Button>
        <Link
          to="/$projectId/templates/$templateId"
          params={{ projectId, templateId }}
          className="py-0.5 text-accent hover:underline"
        >
          {t("Open template")}
        </Link>
      </div>
    </div>
  );
}

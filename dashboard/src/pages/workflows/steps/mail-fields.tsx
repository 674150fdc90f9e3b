// The template and recipient of a SEND_EMAIL step.
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { problemWith } from "../../../api/call.ts";
import { api } from "../../../api/endpoints.ts";
import { query } from "../../../api/query.ts";
import { t } from "../../../text/t.ts";
import { Combobox } from "../../../ui/combobox.tsx";
import { Field, Select } from "../../../ui/field.tsx";
import { KINDS } from "../../templates/kinds.ts";
import type { FieldsProps } from "./step-config.ts";

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
            items: listed.map(({ id, name, type }) => ({
              value: id,
              label: name,
              note: KINDS[type].label,
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
        <p className="text-sm text-soft">
          <bdi>{template.subject}</bdi>{" "}
          <Link
            to="/$projectId/templates/$templateId"
            params={{ projectId, templateId }}
            className="text-accent hover:underline"
          >
            {t("Edit template")}
          </Link>
        </p>
      )}
    </div>
  );
}

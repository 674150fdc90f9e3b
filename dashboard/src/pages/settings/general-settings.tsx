// A project's general settings. Sends only changed fields, so that settings saved elsewhere are not overwritten.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import type { z } from "zod";
import type { updateProject as updateProjectEndpoint } from "@postloft/contract/projects.ts";
import { call, problemWith } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { projectsQuery, type Project } from "../../session/queries.ts";
import { whyNot } from "../../session/rights.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Field, Select } from "../../ui/field.tsx";
import { Card, READABLE_CLASS } from "../../ui/page.tsx";
import { Failure } from "../../ui/states.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { withoutSaved } from "../../ui/typed.ts";
import { useLeaveWarning } from "../../ui/use-leave-warning.ts";

type Change = z.input<(typeof updateProjectEndpoint)["body"]>;
interface Draft {
  name: string;
  language: string;
  defaultFrom: string;
  sendingRate: string;
  eventRetentionDays: string;
  emailRetentionDays: string;
  tracking: Project["tracking"];
  whenInDoubt: Project["whenInDoubt"];
}

/** Binds an input to a field of the draft and its server error. */
type Tied = (name: keyof Draft) => {
  value: string;
  disabled: boolean;
  error: string | undefined;
  onChange: (event: { target: { value: string } }) => void;
};

const TRACKING = [
  { value: "ENABLED", label: t("All emails") },
  { value: "MARKETING_ONLY", label: t("Marketing emails only") },
  { value: "DISABLED", label: t("Off") },
];
const IN_DOUBT = [
  { value: "RETRY", label: t("Send again (may arrive twice)") },
  { value: "WAIT", label: t("Hold for review (may not arrive)") },
];

function draftOf(project: Project): Draft {
  const { name, language, defaultFrom, sendingRate, tracking, whenInDoubt } = project;
  const { eventRetentionDays, emailRetentionDays } = project;
  return {
    name,
    language,
    tracking,
    whenInDoubt,
    defaultFrom: defaultFrom ?? "",
    sendingRate: sendingRate === null ? "" : String(sendingRate),
    eventRetentionDays: eventRetentionDays === null ? "" : String(eventRetentionDays),
    emailRetentionDays: emailRetentionDays === null ? "" : String(emailRetentionDays),
  };
}

const textOrNull = (value: string) => (value.trim() === "" ? null : value);
const numberOrNull = (value: string) => (value.trim() === "" ? null : Number(value));

/** Returns the changed settings in the API's format. An emptied field becomes null. */
function changeOf(before: Draft, after: Draft): Change {
  const all: Required<Pick<Change, keyof Draft>> = {
    ...after,
    defaultFrom: textOrNull(after.defaultFrom),
    sendingRate: numberOrNull(after.sendingRate),
    eventRetentionDays: numberOrNull(after.eventRetentionDays),
    emailRetentionDays: numberOrNull(after.emailRetentionDays),
  };
  const changed = (Object.keys(all) as Array<keyof Draft>).filter((name) => before[name] !== after[name]);
  return Object.fromEntries(changed.map((name) => [name, all[name]]));
}

export function GeneralSettings({ project }: { project: Project }) {
  const stored = draftOf(project);
  const [typed, setTyped] = useState<Partial<Draft>>({});
  const draft: Draft = { ...stored, ...typed };
  const queries = useQueryClient();
  const toast = useToast();
  const appError = whyNot(project, "ADMIN");
  const change = changeOf(stored, draft);
  const isChanged = Object.keys(change).length > 0;
  useLeaveWarning(isChanged);
  const saving = useMutation({
    mutationFn: (sent: Partial<Draft>) =>
      call(api.projects.update, {
        projectId: project.id,
        body: changeOf(stored, { ...stored, ...sent }),
      }),
    onSuccess: async (_saved, sent) => {
      await queries.invalidateQueries({ queryKey: projectsQuery.queryKey });
      setTyped((now) => withoutSaved(now, sent));
      toast(t("Settings saved"));
    },
  });
  const tied: Tied = (name) => ({
    value: draft[name],
    disabled: appError !== undefined,
    error: problemWith(saving.error, name),
    onChange: ({ target }: { target: { value: string } }) =>
      setTyped((old) => ({ ...old, [name]: target.value })),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    saving.mutate(typed);
  };
  return (
    <form onSubmit={submit} noValidate className="flex flex-col gap-5">
      {appError !== undefined && <p className="text-sm text-soft">{appError}</p>}
      {saving.isError && <Failure error={saving.error} atInputs={Object.keys(stored)} />}
      <Card className={`flex flex-col gap-5 p-5 ${READABLE_CLASS}`}>
        <Field label={t("Project name")} {...tied("name")} />
        <Field
          label={t("Language")}
          help={t(
            "For public pages and email footers when a contact has no language. For example en, de or pt-BR.",
          )}
          {...tied("language")}
        />
      </Card>
      <SendingCard tied={tied} />
      <DataCard tied={tied} />
      <div className="flex justify-end gap-2">
        <Button look="quiet" disabled={!isChanged} onClick={() => setTyped({})}>
          {t("Discard")}
        </Button>
        <Button
          look="primary"
          type="submit"
          busy={saving.isPending}
          disabled={appError !== undefined || !isChanged}
          title={appError}
        >
          {t("Save settings")}
        </Button>
      </div>
    </form>
  );
}

function SendingCard({ tied }: { tied: Tied }) {
  return (
    <Card className={`flex flex-col gap-5 p-5 ${READABLE_CLASS}`}>
      <h2 className="font-semibold">{t("Sending email")}</h2>
      <Field
        label={t("Default sender")}
        placeholder="Acme <hello@example.com>"
        help={t("Used when an email has no From address. The domain must be verified.")}
        {...tied("defaultFrom")}
      />
      <Field
        label={t("Sending rate")}
        inputMode="numeric"
        help={t("Emails per second. Leave empty for the server's maximum.")}
        {...tied("sendingRate")}
      />
      <Select
        label={t("Track opens and clicks")}
        options={TRACKING}
        help={t(
          "Some email apps load images automatically. Reports exclude these opens where we can detect them.",
        )}
        {...tied("tracking")}
      />
      <Select
        label={t("If delivery is unconfirmed")}
        options={IN_DOUBT}
        help={t("For transactional emails, when the mail server drops the connection before confirming.")}
        {...tied("whenInDoubt")}
      />
    </Card>
  );
}

function DataCard({ tied }: { tied: Tied }) {
  return (
    <Card className={`flex flex-col gap-5 p-5 ${READABLE_CLASS}`}>
      <h2 className="font-semibold">{t("Data")}</h2>
      <Field
        label={t("Event retention (days)")}
        inputMode="numeric"
        help={t(
          "Events are deleted a month at a time. Report totals are kept, but segments only see kept events. Leave empty to keep everything.",
        )}
        {...tied("eventRetentionDays")}
      />
      <Field
        label={t("Email content retention (days)")}
        inputMode="numeric"
        help={t(
          "After this, content and recipients are deleted. Delivery status and report totals are kept. Leave empty to keep everything.",
        )}
        {...tied("emailRetentionDays")}
      />
    </Card>
  );
}

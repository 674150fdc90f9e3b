// Dialogs that send a campaign now or schedule it.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import type { ConfirmableFinding } from "@postloft/contract/campaign-findings.ts";
import { call, problemWith } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { resourceKey } from "../../api/query-key.ts";
import { plural, t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field } from "../../ui/field.tsx";
import { formatInstant, formatTime } from "../../ui/format.ts";
import { Failure } from "../../ui/states.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { LeftOut } from "./audience-step.tsx";
import { audienceQuery, type Campaign } from "./campaign-queries.ts";

export interface DialogProps {
  projectId: string;
  campaign: Campaign;
  /** Codes of findings that the user accepted. */
  confirm: readonly ConfirmableFinding[];
  onClose: () => void;
}

function useSending({ projectId, campaign, confirm, onClose }: DialogProps, said: string) {
  const queries = useQueryClient();
  const toast = useToast();
  return useMutation({
    mutationFn: (scheduledFor: string | null) =>
      call(api.campaigns.send, {
        projectId,
        params: { id: campaign.id },
        body: {
          ...(scheduledFor === null ? {} : { scheduledFor }),
          ...(confirm.length === 0 ? {} : { confirm: [...confirm] }),
        },
      }),
    onSuccess: async () => {
      toast(said, campaign.name);
      onClose();
      await queries.invalidateQueries({ queryKey: resourceKey(api.campaigns.list, { projectId }) });
    },
  });
}

export function SendDialog(props: DialogProps) {
  const audience = useQuery(audienceQuery(props.projectId, props.campaign));
  const sending = useSending(props, t("Sending campaign"));
  const count = audience.data?.eligible;
  return (
    <Dialog
      title={
        count === undefined
          ? t("Send this campaign now?")
          : plural(count, "Send to {n} contact now?", "Send to {n} contacts now?")
      }
      description={t("You can pause it while it's sending. Emails already sent can't be recalled.")}
      open
      onClose={props.onClose}
    >
      {audience.data !== undefined && <LeftOut audience={audience.data} />}
      {sending.isError && <Failure error={sending.error} />}
      <div className="mt-4 flex justify-end gap-2">
        <Button look="quiet" onClick={props.onClose}>
          {t("Cancel")}
        </Button>
        <Button
          look="primary"
          busy={sending.isPending}
          disabled={audience.isPending}
          onClick={() => sending.mutate(null)}
        >
          {t("Send now")}
        </Button>
      </div>
    </Dialog>
  );
}

const HOUR_MS = 3_600_000;
const NINE = 9;
const FOURTEEN = 14;
const MONDAY = 1;

function atHour(daysFromToday: number, hour: number): Date {
  const day = new Date();
  day.setDate(day.getDate() + daysFromToday);
  day.setHours(hour, 0, 0, 0);
  return day;
}

function presets(): Array<{ label: string; at: Date }> {
  const monday = atHour((MONDAY + 7 - new Date().getDay()) % 7 || 7, NINE);
  return [
    { label: t("In an hour"), at: new Date(Date.now() + HOUR_MS) },
    { label: t("In three hours"), at: new Date(Date.now() + 3 * HOUR_MS) },
    ...[NINE, FOURTEEN].map((hour) => {
      const at = atHour(1, hour);
      return { label: t("Tomorrow, {time}", { time: formatTime(at.toISOString()) }), at };
    }),
    { label: t("Next Monday, {time}", { time: formatTime(monday.toISOString()) }), at: monday },
  ];
}

/** Returns a `datetime-local` value in the user's time zone, with minute precision. */
function fieldValueOf(at: Date): string {
  const local = new Date(at.getTime() - at.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, "yyyy-mm-ddThh:mm".length);
}

export function ScheduleDialog(props: DialogProps) {
  const [value, setValue] = useState(() => {
    const planned = new Date(props.campaign.scheduledAt ?? 0);
    return fieldValueOf(planned.getTime() > Date.now() ? planned : atHour(1, NINE));
  });
  const sending = useSending(props, t("Campaign scheduled"));
  const chosen = new Date(value);
  const isPast = Number.isNaN(chosen.getTime()) || chosen.getTime() <= Date.now();
  const submit = (event: FormEvent) => {
    event.preventDefault();
    sending.mutate(chosen.toISOString());
  };
  const problem = problemWith(sending.error, "scheduledFor");
  return (
    <Dialog title={t("Schedule campaign")} open onClose={props.onClose}>
      <form onSubmit={submit} className="flex flex-col gap-4">
        {sending.isError && <Failure error={sending.error} atInputs={isPast ? [] : ["scheduledFor"]} />}
        <div className="flex flex-wrap gap-2">
          {presets().map(({ label, at }) => (
            <Button key={label} onClick={() => setValue(fieldValueOf(at))}>
              {label}
            </Button>
          ))}
        </div>
        <Field
          label={t("Date and time")}
          type="datetime-local"
          value={value}
          onChange={({ target }) => setValue(target.value)}
          help={t("In your time zone, {zone}.", { zone: Intl.DateTimeFormat().resolvedOptions().timeZone })}
          error={isPast ? t("Choose a time in the future.") : problem}
        />
        <div className="flex justify-end gap-2">
          <Button look="quiet" onClick={props.onClose}>
            {t("Cancel")}
          </Button>
          <Button look="primary" type="submit" busy={sending.isPending} disabled={isPast}>
            {isPast ? t("Schedule") : t("Schedule for {when}", { when: formatInstant(chosen.toISOString()) })}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

// Creates a webhook endpoint and shows its secret once, or changes an endpoint.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import type { ApiResponse } from "../../api/address.ts";
import { call, problemWith } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { resourceKey } from "../../api/query-key.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Checkbox, Field, TextArea } from "../../ui/field.tsx";
import { SecretDialog } from "../../ui/secret-dialog.tsx";
import { Failure } from "../../ui/states.tsx";
import { useToast } from "../../ui/toasts.tsx";

export type WebhookEndpoint = ApiResponse<typeof api.webhooks.listEndpoints>["data"][number];

interface Input {
  url: string;
  /** One event type per line, because names of events may contain spaces and commas. */
  types: string;
  description: string;
  ordered: boolean;
  batchSize: string;
  /** Empty for no limit. */
  callsPerSecond: string;
  /** Separated by commas. Empty for all events. */
  tags: string;
  /** Separated by commas. Empty for all events. */
  addresses: string;
}

const NEW: Input = {
  url: "",
  types: "",
  description: "",
  ordered: false,
  batchSize: "1",
  callsPerSecond: "",
  tags: "",
  addresses: "",
};

function inputOf(endpoint: WebhookEndpoint): Input {
  const { url, eventTypes, description, ordered, batchSize, callsPerSecond, tags, addresses } = endpoint;
  return {
    url,
    types: eventTypes.join("\n"),
    description: description ?? "",
    ordered,
    batchSize: String(batchSize),
    callsPerSecond: String(callsPerSecond ?? ""),
    tags: tags?.join(", ") ?? "",
    addresses: addresses?.join(", ") ?? "",
  };
}

/** Returns the texts between commas, or null if there are none. */
function listOf(text: string): string[] | null {
  const listed = text
    .split(",")
    .map((one) => one.trim())
    .filter((one) => one !== "");
  return listed.length === 0 ? null : listed;
}

function bodyOf({ url, types, description, ordered, batchSize, callsPerSecond, tags, addresses }: Input) {
  return {
    url: url.trim(),
    eventTypes: types
      .split("\n")
      .map((type) => type.trim())
      .filter((type) => type !== ""),
    description: description.trim() === "" ? null : description.trim(),
    ordered,
    batchSize: Number(batchSize),
    callsPerSecond: callsPerSecond === "" ? null : Number(callsPerSecond),
    tags: listOf(tags),
    addresses: listOf(addresses),
  };
}

/** Returns only what was changed here, so that the changes of others stay. */
function changesOf(input: Input, before: WebhookEndpoint): Partial<ReturnType<typeof bodyOf>> {
  const old = bodyOf(inputOf(before));
  const isChanged = ([name, value]: [string, unknown]) =>
    JSON.stringify(value) !== JSON.stringify(old[name as keyof typeof old]);
  return Object.fromEntries(Object.entries(bodyOf(input)).filter(isChanged));
}

interface EndpointDialogProps {
  projectId: string;
  /** The endpoint to change; without it, the dialog creates one. */
  endpoint?: WebhookEndpoint;
  onClose: () => void;
}

export function EndpointDialog({ projectId, endpoint, onClose }: EndpointDialogProps) {
  const queries = useQueryClient();
  const toast = useToast();
  // The endpoint as it was when the dialog opened, because the list is reloaded while the dialog is open.
  const [before] = useState(endpoint);
  const [input, setInput] = useState<Input>(before === undefined ? NEW : inputOf(before));
  const saving = useMutation({
    mutationFn: async () => {
      if (before === undefined)
        return (await call(api.webhooks.createEndpoint, { projectId, body: bodyOf(input) })).secret;
      const params = { id: before.id };
      await call(api.webhooks.updateEndpoint, { projectId, params, body: changesOf(input, before) });
      return null;
    },
    // Do not wait for the refetch, so that the secret appears immediately.
    onSuccess: (secret) => {
      void queries.invalidateQueries({ queryKey: resourceKey(api.webhooks.listEndpoints, { projectId }) });
      if (secret !== null) return;
      toast(t("Webhook endpoint saved"));
      onClose();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    saving.mutate();
  };
  if (saving.data != null) return <EndpointSecret secret={saving.data} onClose={onClose} />;
  return (
    <Dialog
      title={before === undefined ? t("New endpoint") : t("Edit endpoint")}
      open
      onClose={onClose}
      isHeld={saving.isPending}
    >
      <form onSubmit={submit} noValidate className="flex flex-col gap-4">
        <EndpointFields
          given={input}
          onChange={(change) => setInput((now) => ({ ...now, ...change }))}
          error={saving.error}
        />
        <div className="flex justify-end gap-2">
          <Button look="quiet" disabled={saving.isPending} onClick={onClose}>
            {t("Cancel")}
          </Button>
          <Button
            look="primary"
            type="submit"
            busy={saving.isPending}
            disabled={input.url.trim() === "" || bodyOf(input).eventTypes.length === 0}
          >
            {before === undefined ? t("Create endpoint") : t("Save changes")}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** Shows the new secret of an endpoint. */
export function EndpointSecret({ secret, onClose }: { secret: string; onClose: () => void }) {
  return (
    <SecretDialog
      title={t("Copy the secret now")}
      description={t("Your app needs it to verify our requests. You won't be able to see it again.")}
      secret={secret}
      copyLabel={t("Copy secret")}
      onClose={onClose}
    />
  );
}

const FIELDS = ["url", "eventTypes", "description", "batchSize", "callsPerSecond", "tags", "addresses"];

interface EndpointFieldsProps {
  given: Input;
  onChange: (change: Partial<Input>) => void;
  /** Null before the first attempt. */
  error: unknown;
}

function EndpointFields({ given, onChange, error }: EndpointFieldsProps) {
  const { url, types, description, ordered } = given;
  return (
    <>
      {error !== null && <Failure error={error} atInputs={FIELDS} />}
      <Field
        label={t("URL")}
        type="url"
        inputMode="url"
        placeholder="https://example.com/hook"
        autoFocus
        required
        value={url}
        onChange={({ target }) => onChange({ url: target.value })}
        error={problemWith(error, "url")}
      />
      <TextArea
        label={t("Event types")}
        help={t(
          "Names of events, such as email.delivery, one per line. Use email.* for a group and * for all.",
        )}
        placeholder="email.*"
        rows={3}
        isCode
        required
        value={types}
        onChange={({ target }) => onChange({ types: target.value })}
        error={problemWith(error, "eventTypes")}
      />
      <Field
        label={t("Description")}
        value={description}
        onChange={({ target }) => onChange({ description: target.value })}
        error={problemWith(error, "description")}
      />
      <Checkbox
        label={t("Deliver in order")}
        help={t("Each event waits until your app has accepted all earlier ones.")}
        checked={ordered}
        onChange={({ target }) => onChange({ ordered: target.checked })}
      />
      <PaceFields given={given} onChange={onChange} error={error} />
    </>
  );
}

/** Shows the settings that most endpoints leave alone. They are open if one of them is set or wrong. */
function PaceFields({ given, onChange, error }: EndpointFieldsProps) {
  const { batchSize, callsPerSecond, tags, addresses } = given;
  const faults = [
    problemWith(error, "batchSize"),
    problemWith(error, "callsPerSecond"),
    problemWith(error, "tags"),
    problemWith(error, "addresses"),
  ];
  const [isOpen] = useState(batchSize !== "1" || callsPerSecond !== "" || tags + addresses !== "");
  return (
    <details
      className="rounded-md border border-line"
      open={isOpen || faults.some((fault) => fault !== undefined) || undefined}
    >
      <summary className="cursor-pointer px-3 py-2 text-sm font-medium">
        {t("Batches, rate and filters")}
      </summary>
      <div className="flex flex-col gap-4 p-3">
        <Field
          label={t("Events per call")}
          help={t("With more than 1, your app receives a list of events in each call.")}
          type="number"
          inputMode="numeric"
          min={1}
          max={LIMITS.eventBatch.value}
          value={batchSize}
          onChange={({ target }) => onChange({ batchSize: target.value })}
          error={faults[0]}
        />
        <Field
          label={t("Calls per second")}
          help={t("Leave empty for no limit.")}
          type="number"
          inputMode="numeric"
          min={1}
          max={LIMITS.endpointRate.value}
          value={callsPerSecond}
          onChange={({ target }) => onChange({ callsPerSecond: target.value })}
          error={faults[1]}
        />
        <Field
          label={t("Tags")}
          help={t(
            "Only events of emails with one of these tags, separated by commas. Leave empty for all events.",
          )}
          value={tags}
          onChange={({ target }) => onChange({ tags: target.value })}
          error={faults[2]}
        />
        <Field
          label={t("Addresses of received emails")}
          help={t(
            "Only emails received at these addresses, separated by commas. Use * for any characters before the @. Leave empty for all events.",
          )}
          placeholder="support@in.example.com, orders+*@in.example.com"
          value={addresses}
          onChange={({ target }) => onChange({ addresses: target.value })}
          error={faults[3]}
        />
      </div>
    </details>
  );
}

// Creates a scoped key with its scopes, networks and expiry, and shows the key once.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import { SCOPE_NOUNS, TEST_SCOPE } from "@postloft/contract/scopes.ts";
import { call, problemWith } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { resourceKey } from "../../api/query-key.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Field, Select, TextArea } from "../../ui/field.tsx";
import { SecretDialog } from "../../ui/secret-dialog.tsx";
import { Failure } from "../../ui/states.tsx";

const PURPOSES = ["send", "test", "read", "own"] as const;
type Purpose = (typeof PURPOSES)[number];
const PURPOSE_TEXTS: Record<Purpose, { label: string; help: string }> = {
  send: {
    label: t("Send and track"),
    help: t("Access to /v1/send, /v1/track and /v1/verify only."),
  },
  test: {
    label: t("Test emails"),
    help: t("Read-only access. Its emails stay in the local mailbox and out of your reports."),
  },
  read: { label: t("Read-only"), help: t("Can see everything in this project but can't change it.") },
  own: {
    label: t("Custom"),
    help: t("Choose the access for each part of the API."),
  },
};
const FIXED_SCOPES: Record<Exclude<Purpose, "own">, string[]> = {
  send: ["v1:write"],
  test: [TEST_SCOPE, "*:read"],
  read: ["*:read"],
};
const DAY_MS = 86_400_000;
/** Days until the key expires; 0 means never. */
const LIFETIMES = [
  { value: "0", label: t("Never") },
  { value: "30", label: t("In 30 days") },
  { value: "90", label: t("In 90 days") },
  { value: "365", label: t("In a year") },
];

interface NewKeyDialogProps {
  projectId: string;
  onClose: () => void;
}

interface Input {
  name: string;
  purpose: Purpose;
  /** Maps an API noun to `read`, `write` or an empty string, for custom scopes. */
  rights: Readonly<Record<string, string>>;
  networks: string;
  days: string;
}

function scopesOf({ purpose, rights }: Input): string[] {
  if (purpose !== "own") return FIXED_SCOPES[purpose];
  return Object.entries(rights).flatMap(([noun, right]) => (right === "" ? [] : [`${noun}:${right}`]));
}

function bodyOf(input: Input) {
  const { name, networks, days } = input;
  return {
    name: name.trim(),
    scopes: scopesOf(input),
    networks: networks.split(/[\s,]+/).filter((network) => network !== ""),
    expiresAt: days === "0" ? null : new Date(Date.now() + Number(days) * DAY_MS).toISOString(),
  };
}

export function NewKeyDialog({ projectId, onClose }: NewKeyDialogProps) {
  const queries = useQueryClient();
  const [input, setGiven] = useState<Input>({
    name: "",
    purpose: "send",
    rights: {},
    networks: "",
    days: "0",
  });
  const making = useMutation({
    mutationFn: () => call(api.keys.create, { projectId, body: bodyOf(input) }),
    // Do not wait for the refetch, so that the key appears immediately.
    onSuccess: () => void queries.invalidateQueries({ queryKey: resourceKey(api.keys.list, { projectId }) }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    making.mutate();
  };
  if (making.data !== undefined)
    return (
      <SecretDialog
        title={t("Copy your key now")}
        description={t("You won't be able to see this key again.")}
        secret={making.data.key}
        copyLabel={t("Copy key")}
        onClose={onClose}
      />
    );
  return (
    <Dialog title={t("New key")} open onClose={onClose} isHeld={making.isPending}>
      <form onSubmit={submit} noValidate className="flex flex-col gap-4">
        <KeyFields
          given={input}
          onChange={(change) => setGiven((before) => ({ ...before, ...change }))}
          error={making.error}
        />
        <div className="flex justify-end gap-2">
          <Button look="quiet" disabled={making.isPending} onClick={onClose}>
            {t("Cancel")}
          </Button>
          <Button
            look="primary"
            type="submit"
            busy={making.isPending}
            disabled={input.name.trim() === "" || scopesOf(input).length === 0}
          >
            {t("Create key")}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

interface KeyFieldsProps {
  given: Input;
  onChange: (change: Partial<Input>) => void;
  /** Null before the first attempt. */
  error: unknown;
}

function KeyFields({ given, onChange, error }: KeyFieldsProps) {
  const { name, purpose, rights, networks, days } = given;
  const problem = (field: string) => problemWith(error, field);
  return (
    <>
      {error !== null && <Failure error={error} atInputs={["name", "networks", "scopes"]} />}
      <Field
        label={t("Name")}
        placeholder={t("Your app")}
        autoFocus
        required
        value={name}
        onChange={({ target }) => onChange({ name: target.value })}
        error={problem("name")}
      />
      <Select
        label={t("Access")}
        help={PURPOSE_TEXTS[purpose].help}
        options={PURPOSES.map((value) => ({ value, label: PURPOSE_TEXTS[value].label }))}
        value={purpose}
        onChange={({ target }) =>
          onChange({ purpose: PURPOSES.find((one) => one === target.value) ?? "send" })
        }
        error={problem("scopes")}
      />
      {purpose === "own" && (
        <Rights
          rights={rights}
          onChange={(noun, right) => onChange({ rights: { ...rights, [noun]: right } })}
        />
      )}
      <Select
        label={t("Expires")}
        options={LIFETIMES}
        value={days}
        onChange={({ target }) => onChange({ days: target.value })}
      />
      <TextArea
        label={t("Allowed IP addresses")}
        help={t("IP addresses or networks such as 192.0.2.0/24, one per line. Leave empty to allow all.")}
        rows={2}
        isCode
        value={networks}
        onChange={({ target }) => onChange({ networks: target.value })}
        error={problem("networks")}
      />
    </>
  );
}

interface RightsProps {
  rights: Readonly<Record<string, string>>;
  onChange: (noun: string, right: string) => void;
}

/** Shows the nouns as they appear in API paths, because users compare them with the API documentation. */
function Rights({ rights, onChange }: RightsProps) {
  return (
    <ul className="max-h-56 divide-y divide-line overflow-y-auto rounded-md border border-line">
      {SCOPE_NOUNS.map((noun) => (
        <li key={noun} className="flex items-center justify-between gap-3 px-3 py-1.5">
          <code className="font-mono text-xs">{noun}</code>
          <select
            aria-label={t("Access to {noun}", { noun })}
            value={rights[noun] ?? ""}
            onChange={({ target }) => onChange(noun, target.value)}
            className="h-7 rounded-sm border border-line-strong bg-surface px-1.5 text-sm"
          >
            <option value="">{t("None")}</option>
            <option value="read">{t("Read")}</option>
            <option value="write">{t("Read and write")}</option>
          </select>
        </li>
      ))}
    </ul>
  );
}

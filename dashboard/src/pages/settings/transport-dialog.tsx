// Adds a transport to a project or changes one.
import { LIMITS } from "@postloft/contract/limits/limits.ts";
import type { EmailKind } from "@postloft/contract/emails.ts";
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type FormEvent } from "react";
import type { ApiResponse } from "../../api/address.ts";
import { call, problemWith } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { resourceKey } from "../../api/query-key.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { Dialog } from "../../ui/dialog.tsx";
import { Checkbox, Field, Select } from "../../ui/field.tsx";
import { Failure } from "../../ui/states.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { KINDS } from "../reports/names.ts";

export type ProjectTransport = ApiResponse<typeof api.projects.listTransports>["data"][number];

interface Input {
  name: string;
  url: string;
  kinds: readonly EmailKind[];
  /** Empty for all domains. */
  domain: string;
}

const ALL_KINDS: readonly EmailKind[] = ["TRANSACTIONAL", "CAMPAIGN", "WORKFLOW"];
const FIELDS = ["name", "url", "kinds", "domain"];

function inputOf({ name, url, kinds, domain }: ProjectTransport): Input {
  return { name, url, kinds: kinds ?? ALL_KINDS, domain: domain ?? "" };
}

function bodyOf({ name, url, kinds, domain }: Input) {
  return {
    name: name.trim(),
    url: url.trim(),
    kinds: kinds.length === ALL_KINDS.length ? null : [...kinds],
    domain: domain === "" ? null : domain,
  };
}

interface TransportDialogProps {
  projectId: string;
  /** The transport to change; without it, the dialog adds one. */
  transport?: ProjectTransport;
  onClose: () => void;
}

export function TransportDialog({ projectId, transport, onClose }: TransportDialogProps) {
  const queries = useQueryClient();
  const toast = useToast();
  // The transport as it was when the dialog opened, because the list is reloaded while the dialog is open.
  const [before] = useState(transport);
  const [input, setInput] = useState<Input>(
    before === undefined ? { name: "", url: "", kinds: ALL_KINDS, domain: "" } : inputOf(before),
  );
  const saving = useMutation({
    mutationFn: async () =>
      before === undefined
        ? call(api.projects.createTransport, { projectId, body: bodyOf(input) })
        : call(api.projects.updateTransport, { projectId, params: { id: before.id }, body: bodyOf(input) }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: resourceKey(api.projects.listTransports, { projectId }) });
      toast(before === undefined ? t("Transport added") : t("Transport saved"));
      onClose();
    },
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    saving.mutate();
  };
  const isIncomplete = input.name.trim() === "" || input.url.trim() === "" || input.kinds.length === 0;
  return (
    <Dialog
      title={before === undefined ? t("Add transport") : t("Edit transport")}
      open
      onClose={onClose}
      isHeld={saving.isPending}
    >
      <form onSubmit={submit} noValidate className="flex flex-col gap-4">
        <TransportFields
          projectId={projectId}
          given={input}
          onChange={(change) => setInput((now) => ({ ...now, ...change }))}
          error={saving.error}
        />
        <div className="flex justify-end gap-2">
          <Button look="quiet" disabled={saving.isPending} onClick={onClose}>
            {t("Cancel")}
          </Button>
          <Button look="primary" type="submit" busy={saving.isPending} disabled={isIncomplete}>
            {before === undefined ? t("Add transport") : t("Save changes")}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

interface FieldsProps {
  projectId: string;
  given: Input;
  onChange: (change: Partial<Input>) => void;
  /** Null before the first attempt. */
  error: unknown;
}

function TransportFields({ projectId, given, onChange, error }: FieldsProps) {
  const { name, url, domain } = given;
  const domains = useQuery(query(api.domains.list, { projectId }));
  const names = (domains.data ?? []).map((one) => one.domain);
  const listed = domain === "" || names.includes(domain) ? names : [domain, ...names];
  return (
    <>
      {error !== null && <Failure error={error} atInputs={FIELDS} />}
      <Field
        label={t("Name")}
        autoFocus
        required
        value={name}
        onChange={({ target }) => onChange({ name: target.value })}
        error={problemWith(error, "name")}
      />
      <Field
        label={t("URL")}
        help={t(
          "SMTP: smtp://user:password@host:587. Amazon SES: ses://accessKeyId:secretAccessKey@region. We encrypt it and never show the credentials again.",
        )}
        placeholder="smtp://user:password@smtp.example.com:587"
        autoComplete="off"
        spellCheck={false}
        required
        maxLength={LIMITS.projectTransportUrl.value}
        value={url}
        onChange={({ target }) => onChange({ url: target.value })}
        error={problemWith(error, "url")}
      />
      <KindFields kinds={given.kinds} onChange={onChange} />
      <Select
        label={t("Sender domain")}
        options={[
          { value: "", label: t("All domains") },
          ...listed.map((one) => ({ value: one, label: one })),
        ]}
        value={domain}
        onChange={({ target }) => onChange({ domain: target.value })}
        error={problemWith(error, "domain")}
      />
    </>
  );
}

function KindFields({ kinds, onChange }: { kinds: readonly EmailKind[]; onChange: FieldsProps["onChange"] }) {
  return (
    <fieldset className="flex flex-col gap-2">
      <legend className="mb-1.5 font-medium">{t("Kinds of email")}</legend>
      {ALL_KINDS.map((kind) => (
        <Checkbox
          key={kind}
          label={KINDS[kind] ?? kind}
          checked={kinds.includes(kind)}
          onChange={({ target }) =>
            onChange({
              kinds: ALL_KINDS.filter((one) => (one === kind ? target.checked : kinds.includes(one))),
            })
          }
        />
      ))}
    </fieldset>
  );
}

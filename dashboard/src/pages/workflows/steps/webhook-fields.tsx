// The address, method, headers and body of a WEBHOOK step. Stored credentials appear as dots, which keep them when they are saved again.
import { Plus } from "lucide-react";
import { useState } from "react";
import { problemWith } from "../../../api/call.ts";
import { t } from "../../../text/t.ts";
import { Button } from "../../../ui/button.tsx";
import { Field, INPUT_CLASS, Select, TextArea } from "../../../ui/field.tsx";
import type { FieldsProps } from "./step-config.ts";
import { RemoveButton } from "./remove-button.tsx";

const METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE"].map((value) => ({ value, label: value }));

interface Header {
  id: number;
  name: string;
  value: string;
}

interface Written {
  url: string;
  method: string;
  headers: Header[];
  body: string;
}

function writtenOf({
  url = "",
  method = "POST",
  headers = {},
  body,
}: Readonly<Record<string, unknown>>): Written {
  return {
    url: String(url),
    method: String(method),
    headers: Object.entries(headers as Record<string, string>).map(([name, value], id) => ({
      id,
      name,
      value,
    })),
    body: body === undefined ? "" : JSON.stringify(body, null, 2),
  };
}

/** Returns the configuration of the API; null while the body is invalid. */
function configOf({ url, method, headers, body }: Written): Record<string, unknown> | null {
  const named = headers.filter(({ name, value }) => name !== "" || value !== "");
  const config = {
    url,
    method,
    ...(named.length === 0
      ? {}
      : { headers: Object.fromEntries(named.map(({ name, value }) => [name, value])) }),
  };
  if (body.trim() === "") return config;
  try {
    return { ...config, body: JSON.parse(body) as unknown };
  } catch {
    return null;
  }
}

export function WebhookFields({ config, onChange, error }: FieldsProps) {
  const [written, setWritten] = useState(() => writtenOf(config));
  const change = (changed: Partial<Written>) => {
    const next = { ...written, ...changed };
    setWritten(next);
    onChange(configOf(next));
  };
  const { url, method, headers, body } = written;
  return (
    <>
      <Field
        label={t("URL")}
        type="url"
        placeholder="https://example.com/hook"
        value={url}
        onChange={({ target }) => change({ url: target.value })}
        error={problemWith(error, "config.url")}
      />
      <Select
        label={t("Method")}
        options={METHODS}
        value={method}
        onChange={({ target }) => change({ method: target.value })}
      />
      <Headers headers={headers} onChange={(next) => change({ headers: next })} error={error} />
      <TextArea
        label={t("Body")}
        isCode
        rows={6}
        help={t("JSON. Leave empty to send the contact and the data of the execution.")}
        value={body}
        onChange={({ target }) => change({ body: target.value })}
        error={configOf(written) === null ? t("This isn't valid JSON.") : problemWith(error, "config.body")}
      />
    </>
  );
}

interface HeadersProps {
  headers: readonly Header[];
  onChange: (headers: Header[]) => void;
  error: unknown;
}

function Headers({ headers, onChange, error }: HeadersProps) {
  const [nextId, setNextId] = useState(headers.length);
  const problem = problemWith(error, "config.headers");
  const change = (id: number, changed: Partial<Header>) =>
    onChange(headers.map((one) => (one.id === id ? { ...one, ...changed } : one)));
  const add = () => {
    onChange([...headers, { id: nextId, name: "", value: "" }]);
    setNextId(nextId + 1);
  };
  return (
    <fieldset>
      <legend className="mb-1.5 text-sm font-medium">{t("Headers")}</legend>
      <div className="flex flex-col gap-1.5">
        {headers.map(({ id, name, value }) => (
          <div key={id} className="flex gap-1">
            <div className="grid min-w-0 flex-1 grid-cols-2 gap-1.5">
              <input
                aria-label={t("Header name")}
                placeholder="Authorization"
                value={name}
                onChange={({ target }) => change(id, { name: target.value })}
                className={INPUT_CLASS}
              />
              <input
                aria-label={t("Header value")}
                value={value}
                onChange={({ target }) => change(id, { value: target.value })}
                className={INPUT_CLASS}
              />
            </div>
            <RemoveButton
              label={t("Remove header")}
              onClick={() => onChange(headers.filter((one) => one.id !== id))}
            />
          </div>
        ))}
      </div>
      {problem !== undefined && <p className="mt-1 text-sm text-bad">{problem}</p>}
      <Button look="quiet" className="mt-1.5" onClick={add}>
        <Plus size={14} aria-hidden /> {t("Add header")}
      </Button>
    </fieldset>
  );
}

// Shows one API request with its body and response, and as a command.
import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import type { ApiResponse } from "../../api/address.ts";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { t } from "../../text/t.ts";
import { Dialog } from "../../ui/dialog.tsx";
import { formatInstant } from "../../ui/format.ts";
import { CopyButton } from "../../ui/snippet.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { asCurl } from "./as-curl.ts";

export function RequestDialog({
  projectId,
  id,
  onClose,
}: {
  projectId: string;
  id: string;
  onClose: () => void;
}) {
  const request = useQuery(query(api.requests.get, { projectId, params: { id } }));
  const { data } = request;
  return (
    <Dialog title={data === undefined ? t("Request") : `${data.method} ${data.path}`} open onClose={onClose}>
      {request.isPending && <Skeleton className="h-40" />}
      {request.isError && <Failure error={request.error} onRetry={() => void request.refetch()} />}
      {data !== undefined && (
        <>
          <dl className="grid grid-cols-[7rem_minmax(0,1fr)] gap-y-1.5 text-sm">
            {factsOf(data).map(([label, text]) => (
              <div key={label} className="contents">
                <dt className="text-soft">{label}</dt>
                <dd className="wrap-anywhere">
                  <bdi>{text}</bdi>
                </dd>
              </div>
            ))}
          </dl>
          <Part title={t("Body")} copy={t("Copy body")} value={data.body}>
            {data.bodyBytes === 0
              ? t("No body.")
              : t("Body not stored, because it was too large or not JSON.")}
          </Part>
          <Part title={t("Response")} copy={t("Copy response")} value={data.response}>
            {t("Response not stored, because it was empty, too large or not JSON.")}
          </Part>
          <p className="mt-2 text-sm text-faint">
            {t("Text and personal data were removed before storing.")}
          </p>
          <CurlButton command={asCurl(data, location.origin)} />
        </>
      )}
    </Dialog>
  );
}

interface PartProps {
  title: string;
  /** Label of the button that copies the value. */
  copy: string;
  value: unknown;
  /** Shown instead of a missing value. */
  children: ReactNode;
}

function Part({ title, copy, value, children }: PartProps) {
  const text = value == null ? null : JSON.stringify(value, null, 2);
  return (
    <section aria-label={title}>
      <div className="mt-4 flex items-center justify-between">
        <h3 className="text-sm font-medium">{title}</h3>
        {text !== null && <CopyButton text={text} label={copy} />}
      </div>
      {text === null ? (
        <p className="mt-1 text-sm text-soft">{children}</p>
      ) : (
        <pre
          tabIndex={0}
          className="mt-2 max-h-60 overflow-auto rounded-md border border-line bg-side p-3 font-mono text-xs"
        >
          {text}
        </pre>
      )}
    </section>
  );
}

function CurlButton({ command }: { command: string }) {
  return (
    <section aria-label={t("As curl")}>
      <div className="mt-4 flex items-center justify-between">
        <h3 className="text-sm font-medium">{t("As curl")}</h3>
        <CopyButton text={command} label={t("Copy as curl")} />
      </div>
      <p className="mt-1 text-sm text-soft">
        {t("Replace the placeholders, and set the variable to your key.")}
      </p>
    </section>
  );
}

function factsOf(data: ApiResponse<typeof api.requests.get>): Array<[string, string]> {
  const keyNames: Record<string, string> = { secret: t("Secret key"), public: t("Public key") };
  return [
    [t("Status"), data.errorCode === null ? String(data.status) : `${data.status} ${data.errorCode}`],
    [t("Time"), formatInstant(data.at)],
    [t("Duration"), `${data.durationMs} ms`],
    [t("Key"), keyNames[data.key] ?? data.key],
    [t("From"), data.ip ?? "–"],
    [t("User agent"), data.userAgent ?? "–"],
    [t("Request ID"), data.requestId],
  ];
}

// Lists the account's passkeys.
import { useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useState } from "react";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { formatAgo } from "../../ui/format.ts";
import { Card } from "../../ui/page.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";

const dialogs = () => import("./passkey-dialogs.tsx");
const AddPasskeyDialog = lazy(async () => ({ default: (await dialogs()).AddPasskeyDialog }));
const RenamePasskeyDialog = lazy(async () => ({ default: (await dialogs()).RenamePasskeyDialog }));
const RemovePasskeyDialog = lazy(async () => ({ default: (await dialogs()).RemovePasskeyDialog }));

interface Named {
  id: string;
  name: string;
}

export function PasskeysCard() {
  const passkeys = useQuery(query(api.users.passkeys));
  const [adding, setAdding] = useState(false);
  const [renamed, setRenamed] = useState<Named | null>(null);
  const [removed, setRemoved] = useState<Named | null>(null);
  return (
    <Card>
      <header className="flex flex-wrap items-center justify-between gap-3 border-b border-line px-5 py-3">
        <div className="min-w-60 flex-1">
          <h2 className="font-semibold">{t("Passkeys")}</h2>
          <p className="text-sm text-soft">
            {t("Sign in with your fingerprint, face or PIN instead of a password.")}
          </p>
        </div>
        {"PublicKeyCredential" in globalThis && (
          <Button onClick={() => setAdding(true)}>{t("Add passkey")}</Button>
        )}
      </header>
      {passkeys.isPending && <Skeleton className="m-5 h-10" />}
      {passkeys.isError && <Failure error={passkeys.error} onRetry={() => void passkeys.refetch()} />}
      <ul className="divide-y divide-line">
        {passkeys.data?.map(({ id, name, createdAt, lastUsedAt }) => (
          <li key={id} className="flex flex-wrap items-center gap-x-2 gap-y-2 px-5 py-3">
            <div className="min-w-48 flex-1">
              <p className="truncate font-medium">
                <bdi>{name}</bdi>
              </p>
              <p className="text-sm text-faint">
                {t("Added {when}", { when: formatAgo(createdAt) })} ·{" "}
                {lastUsedAt === null
                  ? t("Never used")
                  : t("Last used {when}", { when: formatAgo(lastUsedAt) })}
              </p>
            </div>
            <Button look="quiet" onClick={() => setRenamed({ id, name })}>
              {t("Rename")}
            </Button>
            <Button look="quiet" onClick={() => setRemoved({ id, name })}>
              {t("Remove")}
            </Button>
          </li>
        ))}
      </ul>
      <Suspense>
        {adding && <AddPasskeyDialog onClose={() => setAdding(false)} />}
        {renamed !== null && <RenamePasskeyDialog {...renamed} onClose={() => setRenamed(null)} />}
        {removed !== null && <RemovePasskeyDialog {...removed} onClose={() => setRemoved(null)} />}
      </Suspense>
    </Card>
  );
}

// Lists and revokes the scoped keys that you may see.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState } from "react";
import { TEST_SCOPE } from "@postloft/contract/scopes.ts";
import type { ApiResponse } from "../../api/address.ts";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { resourceKey } from "../../api/query-key.ts";
import { query } from "../../api/query.ts";
import type { Project } from "../../session/queries.ts";
import { roleName } from "../../session/rights.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/confirm-dialog.tsx";
import { formatAgo, formatDay } from "../../ui/format.ts";
import { Badge, Card } from "../../ui/page.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { NewKeyDialog } from "./new-key-dialog.tsx";

type ScopedKey = ApiResponse<typeof api.keys.list>[number];

export function ScopedKeys({ project }: { project: Project }) {
  const isAdmin = project.role !== "MEMBER";
  const keys = useQuery(query(api.keys.list, { projectId: project.id }));
  const [isMaking, setMaking] = useState(false);
  return (
    <Card className="mt-5">
      <header className="flex flex-wrap items-center justify-between gap-3 border-b border-line px-5 py-3">
        <div>
          <h2 className="font-semibold">{t("Scoped keys")}</h2>
          <p className="text-sm text-soft">
            {isAdmin
              ? t("Secret keys with limited access, or for test emails only.")
              : t(
                  "Keys you created. They have at most your own access and expire when you leave the project.",
                )}
          </p>
        </div>
        <Button onClick={() => setMaking(true)}>
          <Plus size={15} aria-hidden /> {t("New key")}
        </Button>
      </header>
      {keys.isLoading && <Skeleton className="m-5 h-10" />}
      {keys.isError && <Failure error={keys.error} onRetry={() => void keys.refetch()} />}
      {keys.data?.length === 0 && (
        <p className="px-5 py-4 text-sm text-soft">
          {t("No scoped keys yet. Create one per app so you can revoke each on its own.")}
        </p>
      )}
      <ul className="divide-y divide-line">
        {keys.data?.map((key) => (
          <KeyRow key={key.id} projectId={project.id} scopedKey={key} />
        ))}
      </ul>
      {isMaking && <NewKeyDialog projectId={project.id} onClose={() => setMaking(false)} />}
    </Card>
  );
}

function KeyRow({ projectId, scopedKey }: { projectId: string; scopedKey: ScopedKey }) {
  const { id, name, scopes, role, networks, expiresAt, lastUsedAt } = scopedKey;
  const [isAsked, setAsked] = useState(false);
  const isOver = expiresAt !== null && Date.parse(expiresAt) <= Date.now();
  const facts = [
    lastUsedAt === null ? t("Never used") : t("Used {when}", { when: formatAgo(lastUsedAt) }),
    ...(expiresAt === null || isOver ? [] : [t("Valid until {day}", { day: formatDay(expiresAt) })]),
    ...(networks.length === 0 ? [] : [t("Limited to {places}", { places: networks.join(", ") })]),
  ];
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 px-5 py-3">
      <div className="min-w-48 flex-1">
        <p className="truncate font-medium">
          <bdi>{name}</bdi> {scopes.includes(TEST_SCOPE) && <Badge tone="neutral">{t("Test")}</Badge>}{" "}
          {role === "MEMBER" && <Badge tone="neutral">{roleName(role)}</Badge>}{" "}
          {isOver && <Badge tone="bad">{t("Expired")}</Badge>}
        </p>
        <p className="truncate font-mono text-xs text-soft">{scopes.join(" ")}</p>
        <p className="text-sm text-faint">{facts.join(" · ")}</p>
      </div>
      <Button look="quiet" aria-label={t("Revoke {name}", { name })} onClick={() => setAsked(true)}>
        {t("Revoke")}
      </Button>
      {isAsked && (
        <RevokeDialog projectId={projectId} keyId={id} name={name} onClose={() => setAsked(false)} />
      )}
    </li>
  );
}

interface RevokeDialogProps {
  projectId: string;
  keyId: string;
  name: string;
  onClose: () => void;
}

function RevokeDialog({ projectId, keyId, name, onClose }: RevokeDialogProps) {
  const queries = useQueryClient();
  const toast = useToast();
  const revoking = useMutation({
    mutationFn: () => call(api.keys.revoke, { projectId, params: { keyId } }),
    onSuccess: async () => {
      await queries.invalidateQueries({ queryKey: resourceKey(api.keys.list, { projectId }) });
      toast(t("Key revoked"), name);
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={t("Revoke key?")}
      description={t("Apps that use {name} stop working immediately. This can't be undone.", { name })}
      action={t("Revoke key")}
      doing={revoking}
      onClose={onClose}
    />
  );
}

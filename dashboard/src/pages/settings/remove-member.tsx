// Removes a member or leaves the project. Offers new keys if the member could see the secret key.
import { useMutation, useQueryClient, type QueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { ApiResponse } from "../../api/address.ts";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { resourceKey } from "../../api/query-key.ts";
import { projectsQuery, type Project } from "../../session/queries.ts";
import { t } from "../../text/t.ts";
import { ConfirmDialog } from "../../ui/confirm-dialog.tsx";
import { Checkbox } from "../../ui/field.tsx";
import { useToast } from "../../ui/toasts.tsx";

export type Member = ApiResponse<typeof api.members.list>[number];

/** Refetches the members and invitations. */
export async function invalidateMembers(queries: QueryClient, projectId: string): Promise<void> {
  await Promise.all(
    [api.members.list, api.invitations.list].map((list) =>
      queries.invalidateQueries({ queryKey: resourceKey(list, { projectId }) }),
    ),
  );
}

interface DialogProps {
  project: Project;
  member: Member;
  onClose: () => void;
}

export function RemoveDialog({ isSelf, ...props }: DialogProps & { isSelf: boolean }) {
  return isSelf ? <LeaveDialog {...props} /> : <RemoveOtherDialog {...props} />;
}

function RemoveOtherDialog({ project, member, onClose }: DialogProps) {
  const queries = useQueryClient();
  const toast = useToast();
  const { email, userId, couldSeeSecretKey } = member;
  const [rotateKeys, setRotating] = useState(false);
  const removing = useMutation({
    mutationFn: () =>
      call(api.members.remove, {
        projectId: project.id,
        params: { userId },
        query: { rotateKeys: couldSeeSecretKey && rotateKeys ? "true" : "false" },
      }),
    onSuccess: async ({ keys }) => {
      await Promise.all([
        invalidateMembers(queries, project.id),
        queries.invalidateQueries({ queryKey: projectsQuery.queryKey }),
      ]);
      if (keys === null) toast(t("Member removed"));
      else toast(t("Member removed, both keys replaced"), t("Update your apps with the new keys."));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={t("Remove member?")}
      description={t(
        "{email} loses access immediately. Their invitations and scoped keys stop working too.",
        {
          email,
        },
      )}
      action={t("Remove member")}
      keep={t("Cancel")}
      doing={removing}
      onClose={onClose}
    >
      {couldSeeSecretKey && (
        <Checkbox
          label={t("Replace both API keys")}
          help={t("{email} could see the secret key. Your apps need the new keys immediately.", { email })}
          checked={rotateKeys}
          disabled={removing.isPending}
          onChange={({ target }) => setRotating(target.checked)}
        />
      )}
    </ConfirmDialog>
  );
}

function LeaveDialog({ project, onClose }: DialogProps) {
  const queries = useQueryClient();
  const navigate = useNavigate();
  const toast = useToast();
  const leaving = useMutation({
    mutationFn: () => call(api.members.leave, { projectId: project.id }),
    onSuccess: async () => {
      await navigate({ to: "/new-project" });
      await queries.invalidateQueries({ queryKey: projectsQuery.queryKey });
      await navigate({ to: "/" });
      toast(t("You left {project}", { project: project.name }));
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={t("Leave project?")}
      description={t(
        "You lose access to {project} immediately. Your invitations and scoped keys stop working. An admin can invite you again.",
        { project: project.name },
      )}
      action={t("Leave project")}
      doing={leaving}
      onClose={onClose}
    />
  );
}

// Removes a member or leaves the project. Offers new keys if the member could see the secret key.
import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { call, type ApiResponse } from "../../api/call.ts";
import { leaveProject, removeMember, type listMembers } from "../../api/endpoints.ts";
import { projectsQuery, type Project } from "../../session/queries.ts";
import { t } from "../../text/t.ts";
import { ConfirmDialog } from "../../ui/confirm-dialog.tsx";
import { Checkbox } from "../../ui/field.tsx";
import { useToast } from "../../ui/toasts.tsx";

export type Member = ApiResponse<NonNullable<typeof listMembers.endpoint>>[number];

export const membersKey = (projectId: string) => ["project", projectId, "members"];

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
      call(removeMember, {
        params: { projectId: project.id, userId },
        query: { rotateKeys: couldSeeSecretKey && rotateKeys ? "true" : "false" },
      }),
    onSuccess: async ({ keys }) => {
      await Promise.all([
        queries.invalidateQueries({ queryKey: membersKey(project.id) }),
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
    mutationFn: () => call(leaveProject, { params: { projectId: project.id } }),
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

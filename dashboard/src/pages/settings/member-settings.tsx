// Manages the members of a project, their roles and the invitations.
import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Plus } from "lucide-react";
import { useState } from "react";
import type { Role } from "@postloft/contract/roles.ts";
import { call } from "../../api/call.ts";
import { api } from "../../api/endpoints.ts";
import { query } from "../../api/query.ts";
import { accountQuery, projectsQuery, type Project } from "../../session/queries.ts";
import { RoleMatrix } from "./role-matrix.tsx";
import { roleName, whyNot } from "../../session/rights.ts";
import { t } from "../../text/t.ts";
import { Button } from "../../ui/button.tsx";
import { ConfirmDialog } from "../../ui/confirm-dialog.tsx";
import { INPUT_CLASS } from "../../ui/field.tsx";
import { formatDay } from "../../ui/format.ts";
import { Badge, Card } from "../../ui/page.tsx";
import { Failure, Skeleton } from "../../ui/states.tsx";
import { useToast } from "../../ui/toasts.tsx";
import { InviteDialog } from "./invite-dialog.tsx";
import { invalidateMembers, RemoveDialog, type Member } from "./remove-member.tsx";

export function MemberSettings({ project }: { project: Project }) {
  const members = useQuery(query(api.members.list, { projectId: project.id }));
  const account = useQuery(accountQuery);
  const [isInviting, setInviting] = useState(false);
  const appError = whyNot(project, "ADMIN");
  return (
    <div className="flex flex-col gap-5">
      <Card>
        <header className="flex items-center justify-between gap-3 border-b border-line px-5 py-3">
          <h2 className="font-semibold">{t("Members")}</h2>
          <Button
            look="primary"
            disabled={appError !== undefined}
            title={appError}
            onClick={() => setInviting(true)}
          >
            <Plus size={15} aria-hidden /> {t("Invite")}
          </Button>
        </header>
        {members.isPending && <Skeleton className="m-5 h-24" />}
        {members.isError && <Failure error={members.error} onRetry={() => void members.refetch()} />}
        <ul className="divide-y divide-line">
          {members.data?.map((member) => (
            <MemberRow
              key={member.userId}
              project={project}
              member={member}
              isSelf={member.userId === account.data?.id}
            />
          ))}
        </ul>
      </Card>
      {appError === undefined && <Invitations projectId={project.id} />}
      <RoleMatrix own={project.role} />
      {isInviting && <InviteDialog projectId={project.id} onClose={() => setInviting(false)} />}
    </div>
  );
}

interface MemberRowProps {
  project: Project;
  member: Member;
  isSelf: boolean;
}

function MemberRow({ project, member, isSelf }: MemberRowProps) {
  const [asked, setAsked] = useState<"remove" | "transfer" | null>(null);
  const appError = whyNot(project, "ADMIN");
  return (
    <li className="flex flex-wrap items-center gap-x-4 gap-y-2 px-5 py-3">
      <div className="min-w-48 flex-1">
        <p className="truncate font-medium">
          <bdi>{member.email}</bdi> {isSelf && <Badge tone="neutral">{t("You")}</Badge>}
        </p>
        <p className="text-sm text-faint">{t("Since {day}", { day: formatDay(member.createdAt) })}</p>
      </div>
      {member.role === "OWNER" || appError !== undefined ? (
        <span className="text-sm text-soft">{roleName(member.role)}</span>
      ) : (
        <RoleSelect projectId={project.id} member={member} />
      )}
      {project.role === "OWNER" && member.role !== "OWNER" && (
        <Button look="quiet" onClick={() => setAsked("transfer")}>
          {t("Make owner")}
        </Button>
      )}
      {member.role !== "OWNER" && (isSelf || appError === undefined) && (
        <Button look="quiet" onClick={() => setAsked("remove")}>
          {isSelf ? t("Leave") : t("Remove")}
        </Button>
      )}
      {asked === "remove" && (
        <RemoveDialog project={project} member={member} isSelf={isSelf} onClose={() => setAsked(null)} />
      )}
      {asked === "transfer" && (
        <TransferDialog project={project} member={member} onClose={() => setAsked(null)} />
      )}
    </li>
  );
}

function RoleSelect({ projectId, member }: { projectId: string; member: Member }) {
  const queries = useQueryClient();
  const toast = useToast();
  const changing = useMutation({
    mutationFn: (role: Role) =>
      call(api.members.changeRole, { projectId, params: { userId: member.userId }, body: { role } }),
    onSuccess: ({ email, role }) => toast(t("Role changed"), `${email}: ${roleName(role)}`),
    onError: (error) => toast(t("Couldn't save the change"), error.message),
    onSettled: () => invalidateMembers(queries, projectId),
  });
  return (
    <select
      aria-label={t("Role of {email}", { email: member.email })}
      value={changing.isPending ? changing.variables : member.role}
      disabled={changing.isPending}
      onChange={({ target }) => changing.mutate(target.value as Role)}
      className={`${INPUT_CLASS} max-w-32`}
    >
      {(["ADMIN", "MEMBER"] as const).map((role) => (
        <option key={role} value={role}>
          {roleName(role)}
        </option>
      ))}
    </select>
  );
}

interface DialogProps {
  project: Project;
  member: Member;
  onClose: () => void;
}

function TransferDialog({ project, member, onClose }: DialogProps) {
  const queries = useQueryClient();
  const toast = useToast();
  const transferring = useMutation({
    mutationFn: () =>
      call(api.members.transferOwnership, { projectId: project.id, body: { userId: member.userId } }),
    onSuccess: async () => {
      await Promise.all([
        invalidateMembers(queries, project.id),
        queries.invalidateQueries({ queryKey: projectsQuery.queryKey }),
      ]);
      toast(t("Ownership transferred"), member.email);
      onClose();
    },
  });
  return (
    <ConfirmDialog
      title={t("Transfer ownership?")}
      description={t("{email} becomes the owner of {project}, and you become an admin.", {
        email: member.email,
        project: project.name,
      })}
      action={t("Transfer ownership")}
      doing={transferring}
      onClose={onClose}
    />
  );
}

function Invitations({ projectId }: { projectId: string }) {
  const queries = useQueryClient();
  const toast = useToast();
  const invitations = useQuery(query(api.invitations.list, { projectId }));
  const revoking = useMutation({
    mutationFn: (invitationId: string) =>
      call(api.invitations.revoke, { projectId, params: { invitationId } }),
    onSuccess: () => toast(t("Invitation revoked"), t("The link no longer works.")),
    onError: (error) => toast(t("Couldn't save the change"), error.message),
    onSettled: () => invalidateMembers(queries, projectId),
  });
  if (invitations.isError)
    return <Failure error={invitations.error} onRetry={() => void invitations.refetch()} />;
  if ((invitations.data?.length ?? 0) === 0) return null;
  return (
    <Card>
      <h2 className="border-b border-line px-5 py-3 font-semibold">{t("Pending invitations")}</h2>
      <ul className="divide-y divide-line">
        {invitations.data?.map(({ id, email, role, expiresAt }) => (
          <li key={id} className="flex flex-wrap items-center gap-x-4 gap-y-2 px-5 py-3">
            <div className="min-w-48 flex-1">
              <p className="truncate font-medium">
                <bdi>{email}</bdi>
              </p>
              <p className="text-sm text-faint">{t("Valid until {day}", { day: formatDay(expiresAt) })}</p>
            </div>
            <span className="text-sm text-soft">{roleName(role)}</span>
            <Button look="quiet" disabled={revoking.isPending} onClick={() => revoking.mutate(id)}>
              {t("Revoke")}
            </Button>
          </li>
        ))}
      </ul>
    </Card>
  );
}

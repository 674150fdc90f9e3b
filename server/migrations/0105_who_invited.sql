-- Who made an invitation: it goes with them. Of those that wait the audit log knows it; null: nobody knows.
-- owner: projects
alter table invitations add column invited_by uuid;
update invitations i set invited_by = a.actor_id
from audit_log a
where a.project_id = i.project_id and a.action = 'invitation.sent' and a.target_id = i.id::text;

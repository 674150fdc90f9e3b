-- What members are told by a call of their own endpoint (docs/decisions/0077-notifications-by-webhook.md).

-- Where somebody wants to be called about a project, and about what: {kind: whether by webhook}; what is not there is not told so.
alter table memberships add column webhook_url text;
alter table memberships add column webhook_kinds jsonb not null default '{}';

alter table webhook_calls drop constraint webhook_calls_owner_kind_check;
alter table webhook_calls add constraint webhook_calls_owner_kind_check check (owner_kind in ('workflow', 'member'));
-- What a member was told lately, newest first.
create index webhook_calls_members on webhook_calls (project_id, owner_id, id) where owner_kind = 'member';

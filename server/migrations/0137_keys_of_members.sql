-- What members may do with keys: docs/decisions/0110-permissions-of-keys.md.
-- owner: projects

-- A scoped key has at most the role of the member who made it, and ends with the membership.
delete from scoped_keys k
where not exists (select 1 from memberships m where m.project_id = k.project_id and m.user_id = k.created_by);
alter table scoped_keys
  add column role text not null default 'ADMIN' check (role in ('ADMIN', 'MEMBER')),
  add foreign key (project_id, created_by) references memberships on delete cascade;
update scoped_keys k set role = 'MEMBER'
from memberships m
where m.project_id = k.project_id and m.user_id = k.created_by and m.role = 'MEMBER';
alter table scoped_keys alter column role drop default;

-- Whoever named the webhook secret meant it; `*` no longer opens secrets.
update scoped_keys set scopes = array_replace(array_replace(scopes, 'webhooks:read', 'secrets:read'), 'webhooks:write', 'secrets:write');

-- True for a member who could see the current secret key in a former role. Until now every member could.
alter table memberships add column knows_secret_key boolean not null default false;
update memberships set knows_secret_key = true;

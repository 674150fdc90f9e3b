-- What members want to be told by mail (docs/decisions/0061-notifications.md).

-- What somebody chose otherwise than it is by itself: {kind: whether by mail}.
alter table memberships add column notifications jsonb not null default '{}';

-- owner: projects
create table told_members (
  project_id uuid        not null references projects (id) on delete cascade,
  kind       text        not null,
  -- What is true for days is told once, and what comes every week, once a week.
  told_at    timestamptz not null default now(),
  primary key (project_id, kind)
);
alter table told_members alter column project_id set (n_distinct = 10);

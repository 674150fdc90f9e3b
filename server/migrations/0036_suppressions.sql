-- Addresses that get nothing from a project (docs/decisions/0045-suppression-list.md). Always kept, looked at where the project wants it.

-- owner: projects
alter table projects add column suppression_list boolean not null default false;

-- owner: suppressions
create table suppressions (
  project_id uuid not null references projects on delete cascade,
  id uuid not null,
  email text not null,
  reason text not null check (reason in ('COMPLAINT', 'HARD_BOUNCE', 'MANUAL', 'IMPORT')),
  -- The mail that came back; it may be gone by now.
  email_id uuid,
  -- The id of a user, or `key`; null for what mail servers told.
  actor text,
  created_at timestamptz not null default now(),
  primary key (project_id, email)
);
create unique index suppressions_newest on suppressions (project_id, id);
create index suppressions_search on suppressions using gin (project_id, email gin_trgm_ops);

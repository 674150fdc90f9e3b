-- Transports of projects, which take a project's email instead of the installation's (docs/decisions/0153-a-transport-per-project.md).

-- owner: transports
create table project_transports (
  project_id uuid not null references projects (id) on delete cascade,
  id uuid not null,
  name text not null,
  -- The URL with masks instead of credentials, as people see it.
  url text not null,
  -- The whole URL, encrypted.
  sealed bytea not null,
  -- Kinds of email that take it. Null for all kinds.
  kinds text[] check (kinds <> '{}'),
  -- The sender domain whose email takes it. Null for all domains. Without a foreign key, because a domain that is removed and added again
  -- must not send through another transport in between.
  domain text,
  enabled boolean not null default true,
  -- The first of the outages that are not over.
  failing_since timestamptz,
  -- The reply at the last outage.
  last_error text,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (project_id, id)
);

-- Whether the project has enabled transports. Each change of them writes this row, so its version names them.
alter table project_queues add column own_transports boolean not null default false;
create index project_queues_own_transports on project_queues (project_id) where own_transports;

-- See the end of 0001_initial.sql.
alter table project_transports alter column project_id set (n_distinct = 10);

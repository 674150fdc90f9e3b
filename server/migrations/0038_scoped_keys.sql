-- Secret keys of a project that open a part of its API (docs/decisions/0046-scoped-keys.md).

-- owner: projects
create table scoped_keys (
  project_id uuid not null references projects on delete cascade,
  id uuid not null,
  hash bytea not null,
  name text not null,
  -- `contacts:read`, `*:write`.
  scopes text[] not null,
  -- From where it may be used, as addresses and in CIDR notation; empty: from anywhere.
  networks text[] not null,
  expires_at timestamptz,
  -- To the minute.
  last_used_at timestamptz,
  created_by uuid not null,
  created_at timestamptz not null default now(),
  primary key (project_id, id)
);
create index scoped_keys_hash on scoped_keys (hash);

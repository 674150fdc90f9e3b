-- Who changed what of a project. Entries are only ever added; each carries the hash of the one before.

-- The newest entry of each project's log: its lock lines up those who add to it.
-- owner: audit
create table audit_heads (
  project_id  uuid    primary key,
  number      integer not null,
  hash        bytea   not null
);

-- Without a reference to the project: what was done outlives it.
-- owner: audit
create table audit_log (
  project_id   uuid         not null,
  id           uuid         not null,
  -- From 1, without a gap.
  number       integer      not null,
  -- In whole milliseconds, as it is hashed.
  at           timestamptz  not null,
  actor_kind   text         not null check (actor_kind in ('person', 'key', 'service')),
  -- Of the person as they were then; the account may be gone.
  actor_id     uuid,
  actor_email  text,
  ip           text,
  action       text         not null,
  target_id    text,
  target_name  text,
  details      jsonb        not null,
  hash         bytea        not null,
  primary key (project_id, id),
  unique (project_id, number)
);

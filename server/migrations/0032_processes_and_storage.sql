-- What the installation page shows about all processes and about growth (docs/decisions/0168-processes-and-storage.md).

-- The running processes. Each one renews its row and deletes it when it stops. Nothing depends on these rows: whether email may be sent is
-- decided by `senders`.
-- owner: instance
create table processes (
  id uuid primary key,
  roles text[] not null,
  host text not null,
  version text not null,
  started_at timestamptz not null default now(),
  seen_at timestamptz not null default now()
);

-- Sizes, one row for each day (UTC) with the last measurement of the day.
-- owner: instance
create table storage_days (
  day date primary key,
  measured_at timestamptz not null,
  database_bytes bigint not null,
  -- Used bytes of the disk of an embedded database. Null if the database is elsewhere, because its disk can't be seen.
  disk_used_bytes bigint,
  -- Tells another disk from a fuller one.
  disk_total_bytes bigint,
  -- Bytes of the largest tables by name, with their indexes.
  table_bytes jsonb not null
);

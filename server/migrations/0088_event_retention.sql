-- How long a project keeps its events (docs/decisions/0082-events-by-month.md).

-- Projects that do not keep them for ever.
-- owner: events
create table event_retentions (
  project_id uuid primary key references projects (id) on delete cascade,
  -- A number of contract/src/limits.ts.
  days       integer not null check (days between 30 and 3650)
);
alter table event_retentions alter column project_id set (n_distinct = 10);

-- Events with an id below this one have been deleted because they are too old; what was counted of them stays.
-- owner: events
alter table count_positions add column kept_from uuid not null default '00000000-0000-0000-0000-000000000000';

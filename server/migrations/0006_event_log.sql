-- The numbered events of projects (docs/decisions/0128-event-log.md).

-- The projects whose events are numbered. The row is locked while numbers are assigned.
-- owner: stream
create table event_streams (
  project_id uuid primary key references projects (id) on delete cascade,
  last_number bigint not null default 0,
  -- The first number that has not been deleted by age.
  first_number bigint not null default 1,
  started_at timestamptz not null default now()
);

-- The events of a project, numbered without gaps in the order of recording.
-- owner: stream
create table event_log (
  project_id uuid not null references projects (id) on delete cascade,
  number bigint not null,
  id uuid not null,
  type text not null,
  contact_id uuid,
  -- Null after the contact or the event was deleted.
  data jsonb,
  created_at timestamptz not null,
  recorded_at timestamptz not null default now(),
  primary key (project_id, number)
);
-- Deleting a contact redacts its events.
create index event_log_contacts on event_log (project_id, contact_id) where contact_id is not null;
-- Finds events older than the retention.
create index event_log_recorded on event_log (project_id, recorded_at, number);

-- See the end of 0001_initial.sql.
alter table event_streams alter column project_id set (n_distinct = 10);
alter table event_log alter column project_id set (n_distinct = 10);

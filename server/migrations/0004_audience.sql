-- Who receives: segments with their members, what keeps them current, and the jobs that work through many contacts.

-- A UUIDv7 made by the database, for rows that one statement makes from many others (PostgreSQL has its own only from 18 on).
create function new_id() returns uuid language sql volatile parallel safe as $$
  select encode(
    set_bit(set_bit(
      overlay(uuid_send(gen_random_uuid())
              placing substring(int8send(floor(extract(epoch from clock_timestamp()) * 1000)::bigint) from 3)
              from 1 for 6),
      52, 1), 53, 1),
    'hex')::uuid
$$;

-- Work that goes through many rows. It is done in steps; each step commits with where the job stands, so that after a
-- crash another process goes on from there (docs/decisions/0011-jobs-are-rows-of-our-own.md).
-- owner: platform
create table jobs (
  project_id     uuid        not null references projects (id) on delete cascade,
  id             uuid        not null,
  kind           text        not null,
  state          text        not null default 'waiting' check (state in ('waiting', 'active', 'completed', 'failed')),
  input          jsonb       not null,
  checkpoint     jsonb,
  progress       smallint    not null default 0 check (progress between 0 and 100),
  result         jsonb,
  failed_reason  text,
  -- Failed tries of the same step in a row.
  failures       smallint    not null default 0,
  -- Who works on it, and when anybody may take it (again): until then it is leased.
  claim_id       uuid,
  due_at         timestamptz not null default now(),
  created_at     timestamptz not null default now(),
  finished_at    timestamptz,
  primary key (project_id, id)
);
create index jobs_due on jobs (project_id, due_at) where state in ('waiting', 'active');
create index jobs_finished on jobs (finished_at) where state in ('completed', 'failed');

-- What was uploaded for a job.
-- owner: platform
create table job_files (
  project_id  uuid   not null,
  job_id      uuid   not null,
  bytes       bytea  not null,
  primary key (project_id, job_id),
  foreign key (project_id, job_id) references jobs (project_id, id) on delete cascade
);
-- A step reads its own part of the file.
alter table job_files alter column bytes set storage external;

-- What a job could not do, one row each: a line of a file, a contact that is gone.
-- owner: platform
create table job_errors (
  project_id  uuid     not null,
  job_id      uuid     not null,
  row         integer  not null,
  subject     text     not null,
  error       text     not null,
  primary key (project_id, job_id, row),
  foreign key (project_id, job_id) references jobs (project_id, id) on delete cascade
);

-- owner: segments
create table segments (
  project_id        uuid        not null references projects (id) on delete cascade,
  id                uuid        not null,
  name              text        not null,
  description       text,
  type              text        not null check (type in ('DYNAMIC', 'STATIC')),
  filters           jsonb       check ((type = 'DYNAMIC') = (filters is not null)),
  -- In the names of its events: made from the first name and kept, so that renaming changes no event.
  slug              text        not null,
  track_membership  boolean     not null default false,
  -- Names of events that can move a contact in or out; '*' stands for any change of the contact itself.
  causes            text[]      not null default '{}',
  -- Whether time alone moves contacts in or out.
  time_based        boolean     not null default false,
  member_count      integer     not null default 0,
  -- When the members of a tracked segment are to be computed anew; null: they follow the changes.
  compute_due_at    timestamptz,
  created_at        timestamptz not null default now(),
  updated_at        timestamptz not null default now(),
  primary key (project_id, id),
  unique (project_id, slug)
);
create index segments_compute_due on segments (compute_due_at) where compute_due_at is not null;

-- Members of static segments, and of dynamic ones whose membership is tracked.
-- owner: segments
create table segment_members (
  project_id  uuid        not null,
  segment_id  uuid        not null,
  contact_id  uuid        not null,
  created_at  timestamptz not null default now(),
  primary key (project_id, segment_id, contact_id),
  foreign key (project_id, segment_id) references segments (project_id, id) on delete cascade,
  foreign key (project_id, contact_id) references contacts (project_id, id) on delete cascade
);
create index segment_members_by_contact on segment_members (project_id, contact_id);

-- Contacts to which something happened that tracked segments must look at. Written with what happened, gone when looked at.
-- owner: reactions
create table contact_changes (
  project_id  uuid  not null,
  id          uuid  not null,
  contact_id  uuid  not null,
  -- The name of the event; null: the contact itself changed.
  cause       text,
  primary key (project_id, id)
);

-- "Who did this lately": reads the contacts of one event name from the index alone.
create index events_by_name on events (project_id, name, created_at, contact_id);

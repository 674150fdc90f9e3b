-- What an import did to contacts, so that it can be undone for 30 days (docs/decisions/0103-undo-an-import.md). A row lists up to a
-- thousand contacts of one kind of change. Rows go with the import, or when they are undone.
-- owner: contacts
create table import_changes (
  project_id     uuid        not null,
  job_id         uuid        not null,
  -- From 1, in the order of the changes.
  number         integer     not null,
  kind           text        not null check (kind in ('CREATED', 'CHANGED', 'SUBSCRIPTION', 'MEMBER')),
  contact_ids    uuid[]      not null,
  -- CHANGED: the values before and after, under the keys that changed; null where a key had no value.
  befores        jsonb[],
  afters         jsonb[],
  -- SUBSCRIPTION: whether each contact was subscribed, and the entry of the consent log that the import wrote.
  was_subscribed boolean[],
  consent_ids    uuid[],
  -- MEMBER: the segment to which the import added contacts that it did not create.
  segment_id     uuid,
  -- When the transaction began, as the memberships say it.
  created_at     timestamptz not null default now(),
  primary key (project_id, job_id, number),
  foreign key (project_id, job_id) references jobs (project_id, id) on delete cascade
);
alter table import_changes alter column project_id set (n_distinct = 10);

-- A job is undone by one job; one that failed makes room for another.
create unique index jobs_undoing on jobs (project_id, (input ->> 'undoes'), (case when state = 'failed' then id end))
  nulls not distinct where input ? 'undoes';

-- A mail in doubt is never the end: a project says whether it is tried again by itself, and a person can say what became of it.

-- owner: projects
alter table projects
  -- Transactional mail of which nobody knows whether it was taken: RETRY, once more under the same Message-ID, so that it may
  -- arrive twice; or WAIT for a person.
  add column when_in_doubt text not null default 'RETRY' check (when_in_doubt in ('RETRY', 'WAIT'));

-- What people said of mails in doubt.
-- owner: emails
create table email_resolutions (
  project_id uuid not null,
  email_id uuid not null,
  -- The attempt of which nobody knew how it ended.
  attempt smallint not null,
  resolved_as text not null check (resolved_as in ('sent', 'failed', 'retry')),
  -- The address of the person, or that it was somebody with the secret key.
  resolved_by text not null,
  created_at timestamptz not null default now(),
  primary key (project_id, email_id, attempt),
  foreign key (project_id, email_id) references emails (project_id, id) on delete cascade
);

-- Handovers without an answer, in the order in which they ended. Those of a process that died have no transport.
-- owner: emails
create index email_attempts_uncertain on email_attempts (project_id, created_at)
  where outcome = 'uncertain' and transport is not null;

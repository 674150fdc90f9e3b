-- What comes back: an inbox of notices, the hours in which mail left, and what became of projects whose mail is not wanted.

-- Notices as they came in, stored before they are answered, and gone through afterwards. Whose mail one is about is not
-- known yet, so there is no tenant in it: where tables are sharded this one stays on the coordinator.
-- owner: deliveries
create table notices (
  id           uuid         primary key,
  source       text         not null check (source in ('sns', 'smtp')),
  -- What makes two of them the same notice, told twice.
  provider_id  text         not null,
  -- What it says; with it come the addresses of people, so it is erased when the notice is done. Kept when it failed.
  raw          bytea,
  -- Of a message that came over SMTP: its envelope. '' is the empty reverse-path.
  sender       text,
  recipient    text,
  failures     smallint     not null default 0,
  due_at       timestamptz  not null default now(),
  received_at  timestamptz  not null default now(),
  done_at      timestamptz,
  -- What it meant, in a few words.
  result       text,
  unique (source, provider_id)
);
create index notices_waiting on notices (source, due_at) where done_at is null;

-- How much mail of a project left in each hour (UTC), and what of it came back: counted in the transaction that books it, so
-- that a rate costs a few rows to read and not all mails. A bounce or a complaint counts to the hour in which its mail left.
-- owner: emails
create table sending_hours (
  project_id  uuid         not null references projects (id) on delete cascade,
  hour        timestamptz  not null,
  sent        integer      not null default 0,
  -- Refused by a server because the address does not exist: these never left (email_attempts knows each of them).
  refused     integer      not null default 0,
  bounced     integer      not null default 0,
  complained  integer      not null default 0,
  primary key (project_id, hour)
)
-- The row of the running hour is written by every batch.
with (fillfactor = 50);

insert into sending_hours (project_id, hour, sent, bounced, complained)
select project_id, date_bin('1 hour', sent_at, timestamptz 'epoch'), count(*), count(bounced_at), count(complained_at)
from emails where sent_at is not null group by 1, 2;
insert into sending_hours (project_id, hour, refused)
select project_id, date_bin('1 hour', created_at, timestamptz 'epoch'), count(*)
from email_attempts where meaning = 'hard-bounce' group by 1, 2
on conflict (project_id, hour) do update set refused = excluded.refused;

-- owner: emails
alter table emails
  -- When a report said for the first time that the mailbox did not take it for now. It changes no state.
  add column soft_bounced_at timestamptz;

-- When a project was disabled for its rates, and why.
-- owner: projects
create table project_suspensions (
  project_id  uuid         not null references projects (id) on delete cascade,
  id          uuid         not null,
  reasons     jsonb        not null,
  created_at  timestamptz  not null default now(),
  primary key (project_id, id)
);

-- Who writes in becomes a contact, not subscribed.
-- owner: contacts
alter table consent_changes
  drop constraint consent_changes_source_check,
  add constraint consent_changes_source_check check (source in
    ('page', 'one-click', 'api', 'import', 'bulk', 'bounce', 'complaint', 'dashboard', 'workflow', 'inbound'));

-- As for other texts: lz4 where this server has it.
do $$
begin
  alter table notices alter column raw set compression lz4;
exception when feature_not_supported then
  raise notice 'this server has no lz4: notices are compressed with pglz';
end
$$;

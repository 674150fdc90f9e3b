-- Creates the tables of release 0.1.0.
--
-- Tables follow the reading order of ARCHITECTURE.md. `projects` and `contacts` come first, because most other tables refer to them.
-- Every table of a project has project_id first in its primary, unique and foreign keys (ARCHITECTURE.md, decision 2).

create extension if not exists pg_trgm;
create extension if not exists btree_gin;

-- Returns a new UUIDv7, for statements that create many rows. PostgreSQL has its own function only from version 18 on.
create function new_id() returns uuid language sql volatile parallel safe as $$
  select encode(
    set_bit(set_bit(
      overlay(uuid_send(gen_random_uuid())
              placing substring(int8send(floor(extract(epoch from clock_timestamp()) * 1000)::bigint) from 3)
              from 1 for 6),
      52, 1), 53, 1),
    'hex')::uuid
$$;

-- Returns the ID of a sent email as an event (docs/decisions/0025-sent-emails-are-events.md). It is a UUIDv7 of the millisecond in which
-- the email left, sorts before every other ID of that millisecond, and ends like the ID of the email. Indexes also use it for the results
-- of campaigns and executions, so that the activity feed reads all of them in the order of their end.
create function sent_event_id(email_id uuid, sent_at timestamptz) returns uuid language sql immutable parallel safe as $$
  select encode(
    substring(int8send(floor(extract(epoch from sent_at at time zone 'UTC') * 1000)::bigint) from 3)
      || '\x7000'::bytea || substring(uuid_send(email_id) from 9),
    'hex')::uuid
$$;

-- Returns the data of a contact. Fails if it has more keys than allowed and more than before (contract/src/limits.ts). Small data is not
-- counted, because 2,000 keys take at least 16,000 bytes.
create function bounded_data(given jsonb, before jsonb) returns jsonb language plpgsql immutable parallel safe as $$
declare
  keys bigint;
begin
  if pg_column_size(given) < 16000 then return given; end if;
  select count(*) into keys from jsonb_object_keys(given);
  if keys > 2000 and keys > (select count(*) from jsonb_object_keys(before)) then
    raise exception 'too many keys' using errcode = 'check_violation', constraint = 'contacts_data_keys';
  end if;
  return given;
end
$$;

-- owner: projects
create table projects (
  id uuid primary key,
  name text not null,
  language text not null default 'en',
  default_from text,
  disabled boolean not null default false,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- The part before the @ of the project's address at INBOUND_DOMAIN. 80 random bits, so that strangers can't guess it.
  inbound_name text not null default left(md5(gen_random_uuid()::text || gen_random_uuid()::text), 20) unique,
  -- Shown in the footer of marketing email, line by line.
  postal_address text,
  logo_url text,
  -- Set while a job deletes the project's data or the whole project.
  removal text check (removal in ('RESET', 'DELETE')),
  removal_job uuid,
  check ((removal is null) = (removal_job is null)),
  check (removal is null or disabled)
);

-- owner: contacts
create table contacts (
  project_id uuid not null references projects (id) on delete cascade,
  id uuid not null,
  email text not null,
  subscribed boolean not null,
  data jsonb not null default '{}' constraint contacts_data_size check (pg_column_size(data) <= 1048576),
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (project_id, id),
  unique (project_id, email)
)
-- A tracked event changes the data of its contact. With room on the page the new version needs no index entries.
with (fillfactor = 85, autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 5000);
create index contacts_search on contacts using gin (project_id, email gin_trgm_ops) with (fastupdate = on);
-- Lists and counts subscribed and unsubscribed contacts, however rare they are.
create index contacts_by_state on contacts (project_id, subscribed, id);

-- ---------------------------------------------------------------------------------------------------------------------------- platform

-- owner: platform
create table idempotency_keys (
  project_id uuid not null,
  key text not null,
  -- The attempt that holds the key. Only this attempt may store a response.
  claim_id uuid not null,
  fingerprint bytea not null,
  status smallint,
  answer text,
  claimed_until timestamptz not null,
  created_at timestamptz not null default now(),
  primary key (project_id, key)
);
create index idempotency_keys_age on idempotency_keys (created_at);

-- Counts requests in the current window. Unlogged, because no request should wait for the write-ahead log. After a crash all windows are
-- empty.
-- owner: platform
create unlogged table rate_windows (
  bucket text not null,
  started_at timestamptz not null,
  taken integer not null,
  primary key (bucket, started_at)
);
create index rate_windows_age on rate_windows (started_at);

-- Work through many rows. Each step commits with its checkpoint, so that another process can continue after a crash
-- (docs/decisions/0011-jobs-are-rows-of-our-own.md).
-- owner: platform
create table jobs (
  project_id uuid not null references projects (id) on delete cascade,
  id uuid not null,
  kind text not null,
  state text not null default 'waiting' check (state in ('waiting', 'active', 'completed', 'failed')),
  input jsonb not null,
  checkpoint jsonb,
  progress smallint not null default 0 check (progress between 0 and 100),
  result jsonb,
  failed_reason text,
  -- How often the current step has failed in a row.
  failures smallint not null default 0,
  -- The worker, and the end of its lease. Any process may claim the job from then on.
  claim_id uuid,
  due_at timestamptz not null default now(),
  created_at timestamptz not null default now(),
  finished_at timestamptz,
  primary key (project_id, id)
);
create index jobs_due on jobs (project_id, due_at) where state in ('waiting', 'active');
create index jobs_finished on jobs (finished_at) where state in ('completed', 'failed');
-- Only one job may undo a job. After a failure another one may try.
create unique index jobs_undoing on jobs (project_id, (input ->> 'undoes'), (case when state = 'failed' then id end))
  nulls not distinct where input ? 'undoes';

-- The file that a job reads.
-- owner: platform
create table job_files (
  project_id uuid not null,
  job_id uuid not null,
  bytes bytea not null,
  primary key (project_id, job_id),
  foreign key (project_id, job_id) references jobs (project_id, id) on delete cascade
);
-- A step reads its part of the file, which is only fast if the file is not compressed.
alter table job_files alter column bytes set storage external;

-- Rows that a job could not process, such as a line of a file.
-- owner: platform
create table job_errors (
  project_id uuid not null,
  job_id uuid not null,
  row integer not null,
  subject text not null,
  error text not null,
  -- The code and values of the error. Null if the error has no code.
  parts jsonb,
  -- The cells of a faulty row of an imported file, so that errors.csv can be corrected and imported again.
  cells jsonb,
  primary key (project_id, job_id, row),
  foreign key (project_id, job_id) references jobs (project_id, id) on delete cascade
);

-- One row that identifies this database and its progress, so that processes notice a rollback. Each process also remembers the last values
-- outside of the database (server/src/platform/stamp).
-- owner: platform
create table installation (
  is_single boolean primary key default true check (is_single),
  -- Set at the first start.
  id uuid,
  -- The place of the database. A copy elsewhere has another place.
  system_identifier text,
  database_oid text,
  timeline text,
  -- Rises whenever the database is found in another place or at an earlier state, and the heartbeat at that time.
  incarnation integer not null default 0,
  incarnation_beat bigint not null default 0,
  -- Counts the heartbeats of all processes.
  beat bigint not null default 0,
  beat_at timestamptz not null default now(),
  -- Set by a restore. The next check then holds everything.
  hold_asked boolean not null default false,
  -- The time of the last rollback.
  went_back_at timestamptz,
  -- Since when everything is held, and why. Null if nothing is held.
  held_since timestamptz,
  held_reason text,
  -- No sender claims until every process knows the current incarnation.
  incarnation_since timestamptz not null default now()
);
insert into installation default values;

-- -------------------------------------------------------------------------------------------------------------------------- transports

-- The local mailbox, with messages that stay on this machine.
-- owner: transports
create table mailbox_messages (
  project_id uuid not null references projects (id) on delete cascade,
  id uuid not null,
  email_id uuid not null,
  from_address text not null,
  -- The envelope, including blind copies. The first one is the recipient of the email.
  recipients text[] not null,
  subject text not null,
  raw bytea not null,
  received_at timestamptz not null default now(),
  primary key (project_id, id),
  unique (project_id, email_id)
);
create index mailbox_messages_by_recipient on mailbox_messages using gin (project_id, recipients);

-- --------------------------------------------------------------------------------------------------------------------------- reactions

-- The events that segments and workflows subscribe to. `*` stands for any change of a contact.
-- owner: reactions
create table event_subscriptions (
  project_id uuid not null references projects (id) on delete cascade,
  event_name text not null,
  subscriber text not null,
  primary key (project_id, event_name, subscriber)
);

-- Outbox events: one row per event and subscriber, deleted when the subscriber has processed it.
-- owner: reactions
create table event_reactions (
  project_id uuid not null,
  subscriber text not null,
  id uuid not null,
  contact_id uuid not null,
  -- Null if the contact changed without an event.
  event_name text,
  event_id uuid,
  -- The email of `email.sent`, because a sent email has no row in `events`.
  email_id uuid,
  -- Marks what follows from a call with a public key (see `emails.from_public_key`). Null stands for false and takes no space.
  from_public_key boolean,
  primary key (project_id, subscriber, id)
);

-- ------------------------------------------------------------------------------------------------------------------------------ emails

-- Message templates, each stored once for all emails that use it. The ID is a hash of the content.
-- owner: emails
create table email_contents (
  project_id uuid not null references projects (id) on delete cascade,
  id uuid not null,
  from_address text not null,
  from_name text,
  reply_to text,
  subject text not null,
  html text not null,
  text text,
  headers jsonb not null default '[]',
  attachments jsonb not null default '[]',
  created_at timestamptz not null default now(),
  -- Bulk email has unsubscribe headers and goes to subscribed contacts only. Null for other email.
  list_kind text check (list_kind in ('MARKETING', 'HEADLESS')),
  -- False if the sender of the email wants no tracking, whatever the project's setting.
  tracked boolean not null default true,
  -- No email created later uses this row, so it can be redacted with the last email before
  -- (docs/decisions/0094-email-retention.md).
  used_until timestamptz not null default 'infinity',
  forgotten_at timestamptz,
  primary key (project_id, id)
);

-- The bytes of attachments, each stored once. The ID is a hash of the bytes.
-- owner: emails
create table email_files (
  project_id uuid not null references projects (id) on delete cascade,
  id uuid not null,
  bytes bytea not null,
  created_at timestamptz not null default now(),
  used_until timestamptz not null default 'infinity',
  primary key (project_id, id)
);
alter table email_files alter column bytes set storage external;

-- The outbox. Every claimed email is a row (docs/decisions/0038-every-claimed-email-is-a-row.md). Columns that most emails leave empty are
-- nullable, because a null takes no space.
-- owner: emails
create table emails (
  project_id uuid not null,
  id uuid not null,
  contact_id uuid,
  content_id uuid not null,
  -- 1 transactional, 2 workflow, 3 campaign. Waiting emails are sent in this order.
  priority smallint not null,
  -- No row is SENDING. That state is computed for claimed emails that passed the pre-send check.
  status text not null default 'QUEUED' check (status in ('QUEUED', 'CLAIMED', 'SENDING', 'SENT', 'FAILED', 'SKIPPED', 'UNCONFIRMED',
    'DELIVERED', 'OPENED', 'CLICKED', 'BOUNCED', 'COMPLAINED')),
  to_address text not null,
  to_name text,
  copies jsonb,
  variables jsonb,
  attempts smallint not null default 0,
  due_at timestamptz not null default now(),
  sender_id uuid,
  reason text,
  created_at timestamptz not null default now(),
  sent_at timestamptz,
  campaign_id uuid,
  transport text,
  provider_message_id text,
  -- The reply to a sent email. It takes 50 bytes here and 186 as a row of `email_attempts`.
  answer text,
  -- The template, even after its deletion. Not a column of `email_contents`, because templates with equal content share a row there.
  template_id uuid,
  -- What came back, in addition to the latest state.
  delivered_at timestamptz,
  opened_at timestamptz,
  clicked_at timestamptz,
  bounced_at timestamptz,
  complained_at timestamptz,
  -- The first report of a temporary rejection. Does not change the state.
  soft_bounced_at timestamptz,
  -- What came back, as bits for an index: 1 delivered, 2 opened, 4 clicked, 8 bounced, 16 complained.
  came_back smallint not null generated always as ((
    case when delivered_at is null then 0 else 1 end + case when opened_at is null then 0 else 2 end
    + case when clicked_at is null then 0 else 4 end + case when bounced_at is null then 0 else 8 end
    + case when complained_at is null then 0 else 16 end)::smallint) stored,
  -- The subject for this recipient, if variables make it differ from the subject of the message template.
  subject text,
  -- A test email has no contact, and nothing that follows from it is counted. Null for other email.
  is_test boolean check (is_test),
  workflow_id uuid,
  workflow_step_id uuid,
  -- Email of a test key stays in the local mailbox, whatever the transport (docs/decisions/0058-test-keys.md).
  stays_here boolean check (stays_here),
  -- When recipient and variables were redacted (docs/decisions/0094-email-retention.md).
  forgotten_at timestamptz constraint emails_forgotten_check
    check (forgotten_at is null or status not in ('QUEUED', 'CLAIMED', 'UNCONFIRMED')),
  -- The keyed hash of the address, kept when the contact is deleted and the address erased, because a bounce may still arrive.
  erased_to uuid,
  -- Set for an email that a workflow sent because of a call with a public key, which anyone can make
  -- (docs/decisions/0116-limits-of-public-keys.md). FIRST is the first email to a contact that never asked for one.
  from_public_key text check (from_public_key in ('FIRST', 'LATER')),
  primary key (project_id, id),
  foreign key (project_id, content_id) references email_contents (project_id, id),
  foreign key (project_id, contact_id) references contacts (project_id, id) on delete set null (contact_id),
  -- Platform email may contain a secret, so it loses its variables when it ends.
  constraint emails_system_variables_check check (
    project_id <> '00000000-0000-7000-8000-000000000000' or variables is null or status in ('QUEUED', 'CLAIMED'))
) with (autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 5000);
-- Every campaign has its own queue, so that a paused one is skipped as a whole.
create index emails_queue on emails (project_id, priority, due_at) where status = 'QUEUED' and campaign_id is null;
create index emails_campaign_queue on emails (project_id, campaign_id, due_at) where status = 'QUEUED' and campaign_id is not null;
create index emails_held on emails (sender_id) where status = 'CLAIMED';
-- A contact gets at most one email of a campaign. The contact comes before the campaign, because a second index by contact would take 42
-- more bytes per email. Emails without a campaign don't conflict, because nulls are distinct.
create unique index emails_by_contact on emails (project_id, contact_id, campaign_id) where contact_id is not null;
-- Counts half a million emails of a campaign without reading one of them.
create index emails_by_campaign on emails (project_id, campaign_id, status, came_back) where campaign_id is not null;
-- Notices without our tag identify the email only by this ID. A hash index, because IDs are long and only compared as a whole.
create index emails_by_provider_message on emails using hash (provider_message_id) where provider_message_id is not null;
create index emails_unconfirmed on emails (project_id, id) where status = 'UNCONFIRMED';
-- Queries that count sent emails need the same condition.
create index emails_by_template on emails (project_id, template_id)
  where template_id is not null and status not in ('QUEUED', 'CLAIMED', 'SENDING', 'FAILED', 'SKIPPED', 'UNCONFIRMED');
create index emails_by_workflow_step on emails (project_id, workflow_step_id, status, came_back) where workflow_step_id is not null;
-- Sent emails in the order of their IDs as events.
create index emails_sent on emails (project_id, sent_event_id(id, sent_at)) where sent_at is not null and contact_id is not null;
-- PostgreSQL keeps statistics on the expression of a partial index but doesn't use them. It assumed that a third of all sent emails is
-- newer than any time (docs/decisions/0086-reports-in-two-statements.md).
create statistics emails_sent_ids on (sent_event_id(id, sent_at)) from emails;
create index emails_from_public_key on emails (project_id, contact_id, created_at) where from_public_key is not null;
create index emails_first_from_public_key on emails (project_id, created_at) where from_public_key = 'FIRST';

-- Attempts that did not end as sent.
-- owner: emails
create table email_attempts (
  project_id uuid not null,
  email_id uuid not null,
  attempt smallint not null,
  outcome text not null,
  answer text not null,
  created_at timestamptz not null default now(),
  transport text,
  -- The category of the reply (server/src/transports/replies). Null without a reply.
  meaning text,
  primary key (project_id, email_id, attempt),
  foreign key (project_id, email_id) references emails (project_id, id) on delete cascade
);
-- The final rejections of a project, in order. Retried attempts are not included.
create index email_attempts_refused on email_attempts (project_id, meaning, created_at)
  where meaning in ('hard-bounce', 'soft-bounce', 'policy', 'message');
-- Submissions without a reply, in the order of their end. Those of a dead process have no transport.
create index email_attempts_uncertain on email_attempts (project_id, created_at) where outcome = 'uncertain' and transport is not null;
-- Reports on deferred emails read only some days.
create index email_attempts_deferred on email_attempts (project_id, created_at) where outcome = 'deferred';

-- Decisions of people about emails in doubt.
-- owner: emails
create table email_resolutions (
  project_id uuid not null,
  email_id uuid not null,
  -- The attempt in doubt.
  attempt smallint not null,
  resolved_as text not null check (resolved_as in ('sent', 'failed', 'retry')),
  -- The address of the user, or a note that the secret key was used.
  resolved_by text not null,
  created_at timestamptz not null default now(),
  primary key (project_id, email_id, attempt),
  foreign key (project_id, email_id) references emails (project_id, id) on delete cascade
);

-- Sending processes with their leases. When a lease expires, the emails that the sender claimed go back to the queue.
-- owner: emails
create table senders (
  id uuid primary key,
  lease_until timestamptz not null,
  started_at timestamptz not null default now(),
  -- Emails that passed the pre-send check and have no recorded result. They are in doubt if the sender dies.
  in_doubt uuid[] not null default '{}',
  -- Sentences about transports that accept no email, written with each renewal of the lease, so that every process can report them.
  outages text[] not null default '{}',
  -- The incarnation of the installation that this sender knows.
  incarnation integer not null default 0
);

-- The links of a message template that lead through us. One row per template, because one row per link would take four times the space.
-- A number is a hash of the address, so it doesn't depend on the order of links or on the release that finds them.
-- owner: emails
create table content_links (
  project_id uuid not null,
  content_id uuid not null,
  numbers integer[] not null,
  -- A link with variables is stored as in the template. Its target is signed in each email.
  urls text[] not null,
  primary key (project_id, content_id),
  foreign key (project_id, content_id) references email_contents (project_id, id) on delete cascade
);

-- How much email of a project left in each hour (UTC) and came back, counted in the transaction that records it. Rates then need a few rows
-- instead of all emails. A bounce or a complaint counts for the hour in which its email left.
-- owner: emails
create table sending_hours (
  project_id uuid not null references projects (id) on delete cascade,
  hour timestamptz not null,
  sent integer not null default 0,
  -- Refused by the server because the address does not exist, so the email never left.
  refused integer not null default 0,
  bounced integer not null default 0,
  complained integer not null default 0,
  primary key (project_id, hour)
)
-- Every batch updates the row of the current hour.
with (fillfactor = 50);
-- Both find every second, in a few rows, which projects sent lately and whose email came back. No column in them changes when an email is
-- sent.
create index sending_hours_by_hour on sending_hours (hour);
create index sending_hours_bad on sending_hours (project_id) where refused + bounced + complained > 0;

-- Recipients of a campaign that wait for their email, in batches of 40. Deleted when a sender claims the batch.
-- owner: emails
create table recipient_batches (
  project_id uuid not null references projects (id) on delete cascade,
  id uuid not null,
  campaign_id uuid not null,
  content_id uuid not null,
  -- For each recipient the ID of the email, the contact and the address, in the same order.
  email_ids uuid[] not null,
  contact_ids uuid[] not null,
  addresses text[] not null,
  -- The distinct domains of these addresses. A batch is skipped if all of its destinations are at their limits.
  domains text[] not null,
  created_at timestamptz not null default now(),
  primary key (project_id, id),
  foreign key (project_id, content_id) references email_contents (project_id, id)
)
-- A batch lives for minutes, so its arrays stay in the row.
with (toast_tuple_target = 8160);
create index recipient_batches_by_campaign on recipient_batches (project_id, campaign_id, id);

-- Throttled domains: destinations that reject a campaign, or all other bulk email of a project, because of the sender. Email to them waits
-- until they accept email again. The foreign key to `campaigns` follows that table.
-- owner: emails
create table paused_destinations (
  project_id uuid not null references projects (id) on delete cascade,
  -- Null for bulk email without a campaign.
  campaign_id uuid,
  -- A domain, or a provider with all of its domains.
  destination text not null,
  domains text[] not null,
  -- Email that waits here is due at a distant time made of this number, so that the index of the queue finds it.
  number bigint generated always as identity,
  -- The reply to the last rejected email.
  answer text not null,
  since timestamptz not null default now(),
  -- When a few of the emails try again.
  try_at timestamptz not null,
  failed_tries integer not null default 0,
  -- The emails that try at present.
  trial_ids uuid[] not null default '{}',
  tried_at timestamptz,
  -- When the members were notified.
  told_at timestamptz,
  -- When the destination accepted email again.
  released_at timestamptz,
  primary key (project_id, number),
  unique nulls not distinct (project_id, campaign_id, destination)
);

-- The readable part of messages that came back about an email and were written for people. Kept for a month.
-- owner: emails
create table returned_messages (
  project_id uuid not null references projects (id) on delete cascade,
  id uuid not null,
  email_id uuid not null,
  from_address text,
  subject text,
  said text,
  received_at timestamptz not null default now(),
  primary key (project_id, id)
);
create index returned_messages_by_email on returned_messages (project_id, email_id);
create index returned_messages_by_age on returned_messages (received_at);

-- What a sender must know of a project, so that it reads no other table (docs/decisions/0063-queues.md). Nothing of the project leaves while
-- its queue is closed, including its campaigns.
-- owner: emails
create table project_queues (
  project_id uuid primary key references projects (id) on delete cascade,
  is_open boolean not null default true,
  -- Emails per second that the project set for itself. Null for the maximum of the installation.
  sending_rate integer check (sending_rate > 0),
  tracking text not null default 'ENABLED' check (tracking in ('ENABLED', 'DISABLED', 'MARKETING_ONLY')),
  -- Transactional email in doubt: RETRY once under the same Message-ID, so that it may arrive twice, or WAIT for a person.
  when_in_doubt text not null default 'RETRY' check (when_in_doubt in ('RETRY', 'WAIT')),
  -- Whether email to addresses on the suppression list is skipped.
  suppression_list boolean not null default false
);

-- The queue of a campaign, from its start until none of its emails waits.
-- owner: emails
create table campaign_queues (
  project_id uuid not null references projects (id) on delete cascade,
  campaign_id uuid not null,
  state text not null check (state in ('OPEN', 'PAUSED', 'CLOSED')),
  primary key (project_id, campaign_id)
);
-- The sender looks for open queues of all projects.
create index campaign_queues_open on campaign_queues (project_id, campaign_id) where state = 'OPEN';

-- Projects that redact their emails after some days (docs/decisions/0094-email-retention.md).
-- owner: emails
create table email_retentions (
  project_id uuid primary key references projects (id) on delete cascade,
  -- The bounds are in contract/src/limits.ts.
  days integer not null check (days between 30 and 3650),
  -- Emails up to this ID are redacted, except for those in `emails_kept_longer`.
  position uuid not null default '00000000-0000-0000-0000-000000000000',
  -- Message templates that no email uses from this time on are redacted, up to the ID below.
  contents_until timestamptz not null default '-infinity',
  contents_position uuid not null default '00000000-0000-0000-0000-000000000000'
);

-- Emails up to the position that had not ended or left late. A campaign with such an email is kept as a whole.
-- owner: emails
create table emails_kept_longer (
  project_id uuid not null references email_retentions (project_id) on delete cascade,
  -- The email, or its campaign.
  id uuid not null,
  is_campaign boolean not null,
  content_id uuid not null,
  -- Its emails have IDs after the first one, up to the second one.
  after_id uuid not null,
  last_id uuid not null,
  -- When it is checked again.
  due_at timestamptz not null,
  primary key (project_id, id)
);

-- ------------------------------------------------------------------------------------------------------------------------------ events

-- What happened to contacts, partitioned by the month of the ID, so that old months are dropped as a whole
-- (docs/decisions/0082-events-by-month.md). Append-only.
-- owner: events
create table events (
  project_id uuid not null,
  id uuid not null,
  contact_id uuid not null,
  name text not null,
  data jsonb,
  email_id uuid,
  created_at timestamptz not null default now(),
  -- See `event_reactions.from_public_key`.
  from_public_key boolean,
  primary key (project_id, id),
  foreign key (project_id, contact_id) references contacts (project_id, id) on delete cascade
) partition by range (id);
create index events_by_contact on events (project_id, contact_id, name, created_at);
create index events_by_email on events (project_id, email_id) where email_id is not null;
-- Finds the contacts with an event of some name without reading the table.
create index events_by_name on events (project_id, name, created_at, contact_id);

-- The default partition takes events of months that have no partition, such as those of a clock that was ahead.
-- owner: events
create table events_later partition of events default;
-- The first partition takes everything until the end of the next month. The server creates the later ones
-- (server/src/platform/database/partitions.ts).
do $$
declare
  until timestamp := date_trunc('month', now() at time zone 'UTC') + interval '2 months';
begin
  execute format('create table %I partition of events for values from (minvalue) to (%L)', to_char(until, '"events_to_"YYYY_MM'),
    sent_event_id('00000000-0000-0000-0000-000000000000', until at time zone 'UTC'));
end $$;

-- Projects that don't keep their events forever.
-- owner: events
create table event_retentions (
  project_id uuid primary key references projects (id) on delete cascade,
  -- The bounds are in contract/src/limits.ts.
  days integer not null check (days between 30 and 3650)
);

-- Every event with an ID before this one is counted in the tables below, and no other (docs/decisions/0044-event-counts.md).
-- owner: events
create table count_positions (
  project_id uuid primary key references projects (id) on delete cascade,
  position uuid not null,
  -- Events before this ID were deleted because they were too old. Their counts stay.
  kept_from uuid not null default '00000000-0000-0000-0000-000000000000'
);

-- The values of the dimensions of emails (a kind, a provider, an ID), numbered in each project. Numbers halve the size of `mail_counts`
-- (docs/decisions/0086-reports-in-two-statements.md).
-- owner: events
create table count_values (
  project_id uuid not null references projects (id) on delete cascade,
  -- 1 kind, 2 campaign, 3 template, 4 workflow, 5 provider.
  dimension smallint not null check (dimension between 1 and 5),
  id integer not null,
  value text not null,
  primary key (project_id, dimension, id),
  unique (project_id, dimension, value)
);

-- Emails per quarter of an hour of their events, because some time zones differ from the full hour by 30 or 45 minutes. An email has at most
-- one value in each dimension and counts once in each column. Only `machine_clicked` counts each followed link.
-- owner: events
create table mail_counts (
  project_id uuid not null,
  quarter timestamptz not null,
  -- The ID in `count_values`.
  value integer not null,
  sent integer not null default 0,
  delivered integer not null default 0,
  opened integer not null default 0,
  clicked integer not null default 0,
  machine_opened integer not null default 0,
  machine_clicked integer not null default 0,
  bounced integer not null default 0,
  soft_bounced integer not null default 0,
  complained integer not null default 0,
  -- After the integers, so that a row has no padding.
  dimension smallint not null,
  -- Refused at RCPT. These emails bounced and never left, so bounce rates are shares of them and the sent ones.
  refused integer not null default 0,
  primary key (project_id, dimension, quarter, value),
  foreign key (project_id, dimension, value) references count_values (project_id, dimension, id) on delete cascade
) with (fillfactor = 90);

-- All other events by name. `detail` is the reason, if the event has one.
-- owner: events
create table event_counts (
  project_id uuid not null references projects (id) on delete cascade,
  quarter timestamptz not null,
  name text not null,
  detail text not null,
  count integer not null,
  primary key (project_id, quarter, name, detail)
) with (fillfactor = 80);

-- Events and sent emails by name and month, so that no request counts them (docs/decisions/0090-event-name-counts.md).
-- owner: events
create table event_name_counts (
  project_id uuid not null references projects (id) on delete cascade,
  name text not null,
  -- The month of the ID (UTC), which is the month of its partition.
  month date not null,
  count bigint not null,
  primary key (project_id, name, month)
) with (fillfactor = 80);

-- ------------------------------------------------------------------------------------------------------------------------------- users

-- One account per email address (docs/decisions/0109-one-account-per-address.md).
-- owner: users
create table users (
  id uuid primary key,
  email text not null unique,
  -- Null if the account only signs in through another service.
  password_hash text,
  created_at timestamptz not null default now(),
  verified_at timestamptz,
  -- The language of emails about the account.
  language text not null default 'en' check (language in ('en', 'de', 'fr', 'es'))
);

-- Signing out deletes the row, which ends the session everywhere.
-- owner: users
create table sessions (
  id uuid primary key,
  user_id uuid not null references users (id) on delete cascade,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  -- Where the session was started, so that its owner recognizes it.
  address text,
  user_agent text,
  last_used_at timestamptz
);
create index sessions_user on sessions (user_id);

-- Links in emails that prove an address or allow a new password.
-- owner: users
create table account_tokens (
  -- The SHA-256 of the token in the link, because a reader of the table must not be able to use it.
  hash bytea primary key,
  -- Null for a sign-up, because the link creates the account.
  user_id uuid references users (id) on delete cascade,
  purpose text not null check (purpose in ('SIGN_UP', 'VERIFY', 'RESET')),
  -- The address that the link proves. It becomes the account's address.
  email text not null,
  expires_at timestamptz not null,
  created_at timestamptz not null default now(),
  constraint account_tokens_user_check check ((user_id is null) = (purpose = 'SIGN_UP'))
);
create index account_tokens_user on account_tokens (user_id, purpose);
create unique index account_tokens_sign_up on account_tokens (email) where purpose = 'SIGN_UP';

-- Authenticator apps (docs/decisions/0050-second-factor.md).
-- owner: users
create table second_factors (
  user_id uuid primary key references users (id) on delete cascade,
  -- Encrypted with the application secret, for this account.
  sealed_secret bytea not null,
  -- Null until a code confirmed it.
  confirmed_at timestamptz,
  -- The time step of the last used code, because a code works once.
  last_step bigint not null default 0,
  created_at timestamptz not null default now()
);

-- owner: users
create table recovery_codes (
  user_id uuid not null references users (id) on delete cascade,
  -- The SHA-256 of the code.
  hash bytea not null,
  primary key (user_id, hash)
);

-- Accounts at other services (docs/decisions/0059-sign-in-with-oauth.md).
-- owner: users
create table identities (
  id uuid primary key,
  -- The address that the service uses for itself, because two services may give the same ID to different people.
  issuer text not null,
  -- The ID at the service. Never the email address, because its owner can change.
  subject text not null,
  user_id uuid not null references users (id) on delete cascade,
  -- The address that the service reported when it was connected, only for display.
  email text not null,
  created_at timestamptz not null default now(),
  unique (issuer, subject)
);
create index identities_user on identities (user_id);

-- owner: users
create table passkeys (
  id uuid primary key,
  user_id uuid not null references users (id) on delete cascade,
  -- Unique across accounts, because a sign-in finds the account by this ID alone.
  credential_id bytea not null unique,
  -- In the COSE form in which it was registered.
  public_key bytea not null,
  -- The authenticator's counter at its last use. Always 0 if it doesn't count.
  sign_count bigint not null,
  transports text[] not null,
  name text not null,
  created_at timestamptz not null default now(),
  last_used_at timestamptz
);
create index passkeys_user on passkeys (user_id, id);

-- owner: users
create table passkey_challenges (
  -- The SHA-256 of the challenge, because a reader of the table must not be able to answer it.
  hash bytea primary key,
  -- The account that registers a passkey. Null for a sign-in.
  user_id uuid references users (id) on delete cascade,
  expires_at timestamptz not null
);
create index passkey_challenges_user on passkey_challenges (user_id);
create index passkey_challenges_expiry on passkey_challenges (expires_at);

-- ------------------------------------------------------------------------------------------------------------------------------- audit

-- The last entry of each project's audit log. Writers lock this row, so that entries get consecutive numbers.
-- owner: audit
create table audit_heads (
  project_id uuid primary key,
  number integer not null,
  hash bytea not null
);

-- Changes of projects, each with the hash of the previous entry. Entries are never changed or deleted. Without a foreign key, because the
-- log outlives the project.
-- owner: audit
create table audit_log (
  project_id uuid not null,
  id uuid not null,
  -- From 1, without gaps.
  number integer not null,
  -- In whole milliseconds, as in the hash.
  at timestamptz not null,
  actor_kind text not null check (actor_kind in ('person', 'key', 'service')),
  -- The user at that time. The account may be deleted.
  actor_id uuid,
  actor_email text,
  ip text,
  action text not null,
  target_id text,
  target_name text,
  details jsonb not null,
  hash bytea not null,
  primary key (project_id, id),
  unique (project_id, number)
);

-- ---------------------------------------------------------------------------------------------------------------------------- projects

-- owner: projects
create table memberships (
  project_id uuid not null references projects (id) on delete cascade,
  user_id uuid not null references users (id) on delete cascade,
  role text not null check (role in ('OWNER', 'ADMIN', 'MEMBER')),
  created_at timestamptz not null default now(),
  -- Choices that differ from the default: {kind: whether by email} (docs/decisions/0061-notifications.md).
  notifications jsonb not null default '{}',
  -- The member's own endpoint, and the kinds of notifications that it gets
  -- (docs/decisions/0077-notifications-by-webhook.md).
  webhook_url text,
  webhook_kinds jsonb not null default '{}',
  -- True for a member who could see the current secret key in a former role (docs/decisions/0110-permissions-of-keys.md).
  knows_secret_key boolean not null default false,
  primary key (project_id, user_id)
);
create index memberships_user on memberships (user_id);

-- The public and the secret key of each project.
-- owner: projects
create table api_keys (
  -- Finds the project of a request.
  hash bytea primary key,
  project_id uuid not null references projects (id) on delete cascade,
  kind text not null check (kind in ('public', 'secret')),
  -- Encrypted with the application secret, so that members can see the key again.
  sealed bytea not null,
  created_at timestamptz not null default now(),
  unique (project_id, kind)
);

-- Secret keys for a part of the API (docs/decisions/0046-scoped-keys.md). A key ends with the membership of its creator and has at most the
-- creator's role.
-- owner: projects
create table scoped_keys (
  project_id uuid not null references projects (id) on delete cascade,
  id uuid not null,
  hash bytea not null,
  name text not null,
  -- Such as `contacts:read` or `*:write`.
  scopes text[] not null,
  -- Addresses and CIDR blocks that may use the key. Empty if all may.
  networks text[] not null,
  expires_at timestamptz,
  -- Accurate to the minute.
  last_used_at timestamptz,
  created_by uuid not null,
  created_at timestamptz not null default now(),
  role text not null check (role in ('ADMIN', 'MEMBER')),
  primary key (project_id, id),
  foreign key (project_id, created_by) references memberships (project_id, user_id) on delete cascade
);
create index scoped_keys_hash on scoped_keys (hash);

-- People without an account who were invited to a project. Deleted when they join or the invitation expires.
-- owner: projects
create table invitations (
  project_id uuid not null references projects (id) on delete cascade,
  id uuid not null,
  email text not null,
  role text not null check (role in ('ADMIN', 'MEMBER')),
  -- The hash of the token in the link. The token itself is not stored.
  token_hash bytea not null,
  created_at timestamptz not null default now(),
  expires_at timestamptz not null,
  -- The invitation ends with this member. Null if unknown.
  invited_by uuid,
  primary key (project_id, id),
  unique (project_id, email)
);
create index invitations_token on invitations (token_hash);
create index invitations_expiry on invitations (expires_at);

-- When a project was disabled because of its rates, and why.
-- owner: projects
create table project_suspensions (
  project_id uuid not null references projects (id) on delete cascade,
  id uuid not null,
  -- English sentences, for suspensions without rates.
  reasons jsonb not null,
  created_at timestamptz not null default now(),
  lifted_at timestamptz,
  -- Null if the instance admin lifted it.
  lifted_by uuid,
  -- The rates as numbers, so that readers get them in their own language.
  rates jsonb not null default '[]',
  primary key (project_id, id)
);

-- When the members were last notified of something. A lasting problem is reported once, and a weekly summary once a week.
-- owner: projects
create table told_members (
  project_id uuid not null references projects (id) on delete cascade,
  kind text not null,
  told_at timestamptz not null default now(),
  primary key (project_id, kind)
);

-- ---------------------------------------------------------------------------------------------------------------------------- requests

-- Recent API requests and their responses (docs/decisions/0053-request-log.md).
-- owner: requests
create table api_requests (
  project_id uuid not null references projects (id) on delete cascade,
  id uuid not null,
  -- The x-request-id of the response. A caller may choose it.
  request_id text not null,
  at timestamptz not null,
  method text not null,
  -- Without the query string.
  path text not null,
  route text not null,
  status smallint not null,
  error_code text,
  duration_ms integer not null,
  -- `secret`, `public`, or the ID of a scoped key.
  key text not null,
  ip text,
  user_agent text,
  -- Without secrets and contents.
  body jsonb,
  body_bytes integer not null,
  -- How many earlier requests of the project are missing, because there were too many in a second.
  left_out integer not null default 0,
  primary key (project_id, id)
);
create index api_requests_by_request on api_requests (project_id, request_id);
create index api_requests_failed on api_requests (project_id, id) where status >= 400;
create index api_requests_old on api_requests (at);

-- ----------------------------------------------------------------------------------------------------------------------------- billing

-- Subscriptions as Stripe knows them (docs/decisions/0054-billing.md).
-- owner: billing
create table billing_customers (
  project_id uuid primary key references projects (id) on delete cascade,
  customer_id text not null,
  -- The last state that Stripe reported. Null if there never was a subscription.
  subscription_id text,
  subscription_status text,
  -- Counts the writes. A process that asked Stripe before the last write asks again.
  version integer not null default 0,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- Usage is reported from this time on. Null if the subscription is inactive or not metered
  -- (docs/decisions/0084-metered-usage.md).
  metered_from timestamptz,
  -- The last day (UTC) with usage in `billing_usage`.
  metered_to date
);
create index billing_customers_customer on billing_customers (customer_id);

-- How many emails of each kind a project may send in a calendar month (docs/decisions/0055-caps.md).
-- owner: billing
create table billing_limits (
  project_id uuid primary key references projects (id) on delete cascade,
  transactional integer check (transactional > 0),
  campaigns integer check (campaigns > 0),
  workflows integer check (workflows > 0),
  updated_at timestamptz not null default now()
);

-- How much email of one kind a project sent on one day, counted once and then reported to Stripe.
-- owner: billing
create table billing_usage (
  project_id uuid not null references projects (id) on delete cascade,
  day date not null,
  category text not null check (category in ('transactional', 'campaigns', 'workflows')),
  customer_id text not null,
  value integer not null check (value > 0),
  due_at timestamptz not null default now(),
  tries integer not null default 0,
  -- Since when Stripe may have it, although no response said so.
  open_since timestamptz,
  reported_at timestamptz,
  -- True if it may have been reported and that can no longer be checked. It is not reported again.
  in_doubt boolean not null default false,
  -- Why the last try failed.
  error text,
  primary key (project_id, day, category)
);
create index billing_usage_due on billing_usage (due_at) where reported_at is null and not in_doubt;

-- Events of Stripe, each once. Only the customer is kept, because the rest is requested from Stripe when the event is processed.
-- owner: billing
create table stripe_events (
  id text primary key,
  type text not null,
  -- Null if there is nothing to do.
  customer_id text,
  -- By Stripe's clock.
  told_at timestamptz not null,
  due_at timestamptz not null default now(),
  failures integer not null default 0,
  done_at timestamptz
);
create index stripe_events_due on stripe_events (due_at) where done_at is null;
create index stripe_events_done on stripe_events (done_at) where done_at is not null;

-- ----------------------------------------------------------------------------------------------------------------------------- domains

-- Sender domains. They are checked regularly and lose their proof only after several failed checks
-- (docs/decisions/0009-domain-checks-claim-by-due-time.md).
-- owner: domains
create table domains (
  project_id uuid not null references projects (id) on delete cascade,
  id uuid not null,
  domain text not null,
  status text not null default 'PENDING' check (status in ('PENDING', 'VERIFIED')),
  dkim_selector text not null,
  dkim_public_key text not null,
  dkim_private_key bytea not null,
  -- Unused. `dns_found` replaced it.
  dkim_found text,
  last_checked_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- The last response of DNS: name → TXT records. An empty list if there are none, and no entry if no server ever responded.
  dns_found jsonb not null default '{}',
  -- Why the last check could not decide: 'TAKEN' if another project has proved the domain, otherwise the error of DNS.
  check_problem text,
  -- When a check is due. A process claims the check by moving this time.
  next_check_at timestamptz not null default now() + interval '5 minutes',
  -- Counted failed checks in a row, and the time of the last one. Both stay when they make the domain pending.
  failed_checks smallint not null default 0,
  failed_at timestamptz,
  status_changed_at timestamptz not null default now(),
  -- The second key: the next one with its private half, or the previous one with the time until which it stays published.
  second_dkim_selector text,
  second_dkim_public_key text,
  second_dkim_private_key bytea,
  second_dkim_until timestamptz,
  -- A key of another kind, which also signs while DNS publishes it.
  ed25519_selector text,
  ed25519_public_key text,
  ed25519_private_key bytea,
  -- As of the last check.
  ed25519_published boolean not null default false,
  -- For each name of `dns_found` the time of the last response and the servers that were asked.
  dns_lookups jsonb not null default '{}',
  primary key (project_id, id),
  unique (project_id, domain),
  constraint domains_second_dkim_key check (
    case when second_dkim_selector is null
      then num_nonnulls(second_dkim_public_key, second_dkim_private_key, second_dkim_until) = 0
      else second_dkim_public_key is not null and num_nonnulls(second_dkim_private_key, second_dkim_until) = 1
    end
  ),
  constraint domains_ed25519_key check (num_nonnulls(ed25519_selector, ed25519_public_key, ed25519_private_key) in (0, 3)
    and (ed25519_selector is not null or not ed25519_published))
);
create index domains_by_name on domains (domain);
create index domains_next_check on domains (next_check_at);

-- Changes of DNS records, written by a check that finds another value or status. The last few of each record are kept
-- (docs/decisions/0078-dns-changes-and-bounce-reasons.md).
-- owner: domains
create table domain_record_changes (
  project_id uuid not null,
  domain_id uuid not null,
  purpose text not null,
  name text not null,
  changed_at timestamptz not null default now(),
  status text not null,
  -- Null if DNS has no record.
  found text,
  primary key (project_id, domain_id, purpose, name, changed_at),
  foreign key (project_id, domain_id) references domains (project_id, id) on delete cascade
);

-- DMARC aggregate reports (docs/decisions/0060-domain-reports.md).
-- owner: domains
create table dmarc_reports (
  project_id uuid not null references projects (id) on delete cascade,
  id uuid not null,
  -- The verified domain of the project that the report is about.
  domain text not null,
  reporter text not null,
  -- The reporter's ID, because a report arrives again if our response was lost.
  report_id text not null,
  begins_at timestamptz not null,
  ends_at timestamptz not null,
  -- The published policy: none, quarantine or reject.
  policy text,
  received_at timestamptz not null default now(),
  primary key (project_id, id),
  unique (project_id, domain, reporter, report_id)
);
create index dmarc_reports_old on dmarc_reports (received_at);

-- owner: domains
create table dmarc_sources (
  project_id uuid not null,
  report_id uuid not null,
  position smallint not null,
  source_ip text not null,
  messages bigint not null,
  -- What the receiver did: none, quarantine, reject or pass.
  disposition text not null,
  -- Whether DKIM and SPF passed for a domain that is aligned with From.
  dkim boolean not null,
  spf boolean not null,
  -- All signing domains, aligned or not, because they distinguish a forgotten sender from a stranger.
  signers text[] not null,
  primary key (project_id, report_id, position),
  foreign key (project_id, report_id) references dmarc_reports (project_id, id) on delete cascade
);

-- SMTP TLS reports.
-- owner: domains
create table tls_reports (
  project_id uuid not null references projects (id) on delete cascade,
  id uuid not null,
  domain text not null,
  reporter text not null,
  report_id text not null,
  begins_at timestamptz not null,
  ends_at timestamptz not null,
  successes bigint not null,
  failures bigint not null,
  -- [{result, count, mx}], the largest first.
  details jsonb not null,
  received_at timestamptz not null default now(),
  primary key (project_id, id),
  unique (project_id, domain, reporter, report_id)
);
create index tls_reports_old on tls_reports (received_at);

-- ---------------------------------------------------------------------------------------------------------------------------- contacts

-- The type of each key in the data of contacts, set by its first value and then fixed (specification, section 2.3).
-- owner: contacts
create table contact_fields (
  project_id uuid not null references projects (id) on delete cascade,
  field text not null,
  type text not null check (type in ('string', 'number', 'boolean', 'date')),
  created_at timestamptz not null default now(),
  -- Numbers the fields of a project, so that the check limits them (contract/src/limits.ts).
  number integer not null default 0 constraint contact_fields_number check (number <= 2000),
  primary key (project_id, field)
);

-- The consent log. One row for the initial state of a contact, under the ID of the contact, and one for each change of `subscribed`. Written
-- by the statement that changes the contact and deleted with the contact.
-- owner: contacts
create table consent_changes (
  project_id uuid not null,
  contact_id uuid not null,
  id uuid not null,
  subscribed boolean not null,
  source text not null check (source in
    ('page', 'one-click', 'api', 'import', 'bulk', 'bounce', 'complaint', 'dashboard', 'workflow', 'inbound', 'opt-out')),
  -- The ID of a user, or `key` for an API key. Null for the contact and for mail servers.
  actor text,
  -- Only from public pages.
  ip inet,
  -- The time of the row rather than of its transaction, so that the changes of a contact stay in order.
  created_at timestamptz not null default clock_timestamp(),
  -- The order of rows in all projects, from a sequence, so that no writer waits (docs/decisions/0083-consent-chain.md).
  position bigint generated always as identity,
  -- True if the initial state was not given by the caller. An unsubscribed contact created by a transactional email did not opt out.
  by_default boolean not null default false,
  -- The email whose link was used, that bounced or was reported as spam. Without a foreign key, because the log outlives it.
  email_id uuid,
  -- The contact comes before the row, so that one index finds and deletes the log of a contact.
  primary key (project_id, contact_id, id),
  foreign key (project_id, contact_id) references contacts (project_id, id) on delete cascade
);
create index consent_changes_position_idx on consent_changes (position);

-- The positions of rows that were deleted with their contacts, without what they said. Numbered by the same sequence.
-- owner: contacts
create table consent_erasures (
  project_id uuid not null references projects (id) on delete cascade,
  position bigint not null default nextval('consent_changes_position_seq'),
  positions bigint[] not null,
  at timestamptz not null default clock_timestamp(),
  primary key (project_id, position)
);
create index consent_erasures_position_idx on consent_erasures (position);

-- Checkpoints of the consent log. Each covers some rows of a project by their digests, and the previous checkpoint.
-- owner: contacts
create table consent_seals (
  project_id uuid not null references projects (id) on delete cascade,
  -- From 1, without gaps.
  number integer not null,
  -- In whole milliseconds, as in the hash.
  at timestamptz not null,
  -- All rows until this time are covered, here or earlier. Null if the next checkpoint has more of them.
  complete_to timestamptz,
  positions bigint[] not null,
  -- 32 bytes for each position.
  digests bytea not null,
  hash bytea not null,
  primary key (project_id, number)
);
-- Digests can't be compressed.
alter table consent_seals alter column digests set storage external;

-- The last checkpoint of each project.
-- owner: contacts
create table consent_heads (
  project_id uuid primary key references projects (id) on delete cascade,
  number integer not null,
  hash bytea not null
);

-- One row with the last covered position of all projects. Its lock makes concurrent processes write checkpoints one after the other.
-- owner: contacts
create table consent_sealed (
  is_only boolean primary key default true check (is_only),
  position bigint not null
);
insert into consent_sealed (position) values (0);

-- Views of the contact list that members saved (docs/decisions/0080-saved-views.md).
-- owner: contacts
create table contact_views (
  project_id uuid not null references projects (id) on delete cascade,
  id uuid not null,
  name text not null,
  -- The query of `GET /contacts`, and the custom fields with a column.
  query jsonb not null,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (project_id, id),
  unique (project_id, name)
);

-- What an import changed, so that it can be undone for 30 days (docs/decisions/0103-undo-an-import.md). A row lists up to a thousand contacts
-- with one kind of change. Deleted with the import, or when it is undone.
-- owner: contacts
create table import_changes (
  project_id uuid not null,
  job_id uuid not null,
  -- From 1, in the order of the changes.
  number integer not null,
  kind text not null check (kind in ('CREATED', 'CHANGED', 'SUBSCRIPTION', 'MEMBER')),
  contact_ids uuid[] not null,
  -- CHANGED: the values before and after, under the changed keys. Null for a key without a value.
  befores jsonb[],
  afters jsonb[],
  -- SUBSCRIPTION: whether each contact was subscribed, and the entry of the consent log that the import wrote.
  was_subscribed boolean[],
  consent_ids uuid[],
  -- MEMBER: the segment to which the import added existing contacts.
  segment_id uuid,
  -- The start of the transaction, as in the memberships.
  created_at timestamptz not null default now(),
  primary key (project_id, job_id, number),
  foreign key (project_id, job_id) references jobs (project_id, id) on delete cascade
);

-- Opt-outs of addresses that belong to no contact, because it was deleted, changed its address, or never existed
-- (docs/decisions/0107-opt-outs-of-addresses.md). A contact that gets the address starts unsubscribed and removes the row, so an address never
-- has both.
-- owner: contacts
create table opt_outs (
  project_id uuid not null references projects (id) on delete cascade,
  -- The first 128 bits of an HMAC of project and address, with a key derived from the application secret. It doesn't reveal the address.
  address_hash uuid not null,
  created_at timestamptz not null default now(),
  primary key (project_id, address_hash)
);

-- ------------------------------------------------------------------------------------------------------------------------ suppressions

-- Addresses that get no email from a project (docs/decisions/0045-suppression-list.md). Always kept, and applied if the project wants it.
-- owner: suppressions
create table suppressions (
  project_id uuid not null references projects (id) on delete cascade,
  id uuid not null,
  email text not null,
  reason text not null check (reason in ('COMPLAINT', 'HARD_BOUNCE', 'MANUAL', 'IMPORT')),
  -- The email that came back. It may be deleted.
  email_id uuid,
  -- The ID of a user, or `key`. Null for reports of mail servers.
  actor text,
  created_at timestamptz not null default now(),
  primary key (project_id, email)
);
create unique index suppressions_newest on suppressions (project_id, id);
create index suppressions_search on suppressions using gin (project_id, email gin_trgm_ops);

-- ---------------------------------------------------------------------------------------------------------------------------- segments

-- owner: segments
create table segments (
  project_id uuid not null references projects (id) on delete cascade,
  id uuid not null,
  name text not null,
  description text,
  type text not null check (type in ('DYNAMIC', 'STATIC')),
  filters jsonb check ((type = 'DYNAMIC') = (filters is not null)),
  -- Part of the names of the segment's events. Made from the first name and kept, so that renaming changes no event.
  slug text not null,
  track_membership boolean not null default false,
  -- Names of events that can move a contact in or out. `*` stands for any change of the contact.
  causes text[] not null default '{}',
  -- Whether contacts move in or out as time passes.
  time_based boolean not null default false,
  member_count integer not null default 0,
  -- When the members of a tracked segment are computed again. Null while they follow the changes.
  compute_due_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (project_id, id),
  unique (project_id, slug)
);
create index segments_compute_due on segments (compute_due_at) where compute_due_at is not null;

-- Members of static segments and of tracked dynamic ones.
-- owner: segments
create table segment_members (
  project_id uuid not null,
  segment_id uuid not null,
  contact_id uuid not null,
  created_at timestamptz not null default now(),
  primary key (project_id, segment_id, contact_id),
  foreign key (project_id, segment_id) references segments (project_id, id) on delete cascade,
  foreign key (project_id, contact_id) references contacts (project_id, id) on delete cascade
) with (autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 5000);
create index segment_members_by_contact on segment_members (project_id, contact_id);

-- Slugs of deleted segments. No later segment gets them, because events, workflows and filters may still name them
-- (docs/decisions/0108-names-are-not-reused.md).
-- owner: segments
create table retired_slugs (
  project_id uuid not null references projects (id) on delete cascade,
  slug text not null,
  primary key (project_id, slug)
);

-- --------------------------------------------------------------------------------------------------------------------------- templates

-- owner: templates
create table templates (
  project_id uuid not null references projects (id) on delete cascade,
  id uuid not null,
  name text not null,
  description text,
  type text not null check (type in ('TRANSACTIONAL', 'MARKETING', 'HEADLESS')),
  subject text not null,
  body text not null,
  from_address text,
  from_name text,
  reply_to text,
  -- The blocks from which the editor makes the body.
  design jsonb,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  primary key (project_id, id)
);

-- Earlier versions of templates (docs/decisions/0062-blocks.md).
-- owner: templates
create table template_versions (
  project_id uuid not null,
  template_id uuid not null,
  id uuid not null,
  subject text not null,
  body text not null,
  design jsonb,
  -- When this version was current.
  saved_at timestamptz not null,
  replaced_at timestamptz not null default now(),
  primary key (project_id, template_id, id),
  foreign key (project_id, template_id) references templates (project_id, id) on delete cascade
);

-- ---------------------------------------------------------------------------------------------------------------------------- webhooks

-- The secret that signs the webhooks of a project, created when it is first needed.
-- owner: webhooks
create table webhook_secrets (
  project_id uuid primary key references projects (id) on delete cascade,
  sealed bytea not null,
  -- The previous secret, which also signs for a while after a rotation.
  former_sealed bytea,
  made_at timestamptz not null default now()
);

-- Calls of endpoints and their results. A claimed call is due again when its lease expires.
-- owner: webhooks
create table webhook_calls (
  project_id uuid not null references projects (id) on delete cascade,
  id uuid not null,
  -- The workflow execution or member that the call is for. Only the owner's code interprets `owner_ref`.
  owner_kind text not null check (owner_kind in ('workflow', 'member')),
  owner_id uuid not null,
  owner_ref text not null,
  url text not null,
  method text not null check (method in ('GET', 'POST', 'PUT', 'PATCH', 'DELETE')),
  headers jsonb not null,
  body text,
  state text not null default 'waiting' check (state in ('waiting', 'done', 'failed')),
  -- Finished tries. A try whose process died does not count.
  tries smallint not null default 0,
  due_at timestamptz default now() check ((due_at is null) = (state <> 'waiting')),
  claim_id uuid,
  -- The result of the last try.
  response_status smallint,
  response_body text,
  is_cut boolean not null default false,
  error text,
  created_at timestamptz not null default now(),
  ended_at timestamptz,
  primary key (project_id, id)
);
create index webhook_calls_due on webhook_calls (project_id, due_at) where state = 'waiting';
create index webhook_calls_ended on webhook_calls (ended_at) where ended_at is not null;
-- The last calls of a member, newest first.
create index webhook_calls_members on webhook_calls (project_id, owner_id, id) where owner_kind = 'member';
-- Deleting a contact redacts the calls of its executions.
create index webhook_calls_executions on webhook_calls (project_id, owner_id) where owner_kind = 'workflow';

-- --------------------------------------------------------------------------------------------------------------------------- campaigns

-- owner: campaigns
create table campaigns (
  project_id uuid not null references projects (id) on delete cascade,
  id uuid not null,
  name text not null,
  description text,
  subject text not null,
  body text not null,
  from_address text not null,
  from_name text,
  reply_to text,
  kind text not null default 'MARKETING' check (kind in ('MARKETING', 'TRANSACTIONAL', 'HEADLESS')),
  audience_type text not null check (audience_type in ('ALL', 'SEGMENT', 'FILTERED')),
  segment_id uuid,
  audience_filter jsonb,
  status text not null default 'DRAFT' check (status in ('DRAFT', 'SCHEDULED', 'SENDING', 'PAUSED', 'SENT', 'CANCELLED')),
  scheduled_for timestamptz,
  started_at timestamptz,
  -- When the recipients were fixed, and how many contacts were excluded for which reason.
  snapshot_at timestamptz,
  total_recipients integer not null default 0,
  excluded jsonb not null default '{}',
  finished_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- The last start, resume or retry. Rejections before this time don't pause the campaign again.
  sending_since timestamptz,
  -- The blocks from which the editor makes the body.
  design jsonb,
  -- Why the campaign waits for a person, as codes and values. Null if a person paused it, or if it doesn't wait.
  held_reason_parts jsonb,
  primary key (project_id, id),
  foreign key (project_id, segment_id) references segments (project_id, id) on delete set null (segment_id)
);
create index campaigns_scheduled on campaigns (scheduled_for) where status = 'SCHEDULED';
create index campaigns_waiting on campaigns (project_id, scheduled_for) where status = 'SCHEDULED';
create index campaigns_active on campaigns (project_id, id) where status in ('SENDING', 'PAUSED', 'CANCELLED') and finished_at is null;
-- For the activity feed, see `sent_event_id`.
create index campaigns_sent on campaigns (project_id, sent_event_id(id, finished_at)) where status = 'SENT' and finished_at is not null;

alter table paused_destinations
  add foreign key (project_id, campaign_id) references campaigns (project_id, id) on delete cascade;

-- ----------------------------------------------------------------------------------------------------------------------------- uploads

-- Uploaded images (docs/decisions/0049-uploads.md). The files are on disk or in S3.
-- owner: uploads
create table uploads (
  project_id uuid not null references projects (id) on delete cascade,
  id uuid not null,
  -- The name of the file in the project's folder: 128 random bits and the extension of its type.
  file text not null check (file ~ '^[0-9a-f]{32}\.(png|jpg|gif|webp)$'),
  -- The SHA-256 of the uploaded bytes, because the same image is stored once.
  source_hash bytea not null check (length(source_hash) = 32),
  content_type text not null check (content_type in ('image/png', 'image/jpeg', 'image/gif', 'image/webp')),
  -- The size of the stored file.
  bytes integer not null check (bytes > 0),
  -- In pixels. Of an animation, the size of a frame.
  width integer not null check (width > 0),
  height integer not null check (height > 0),
  -- The name of the uploaded file.
  name text not null,
  created_at timestamptz not null default now(),
  -- The last upload of the same bytes.
  uploaded_at timestamptz not null default now(),
  primary key (project_id, id),
  unique (project_id, file),
  unique (project_id, source_hash)
);

-- --------------------------------------------------------------------------------------------------------------------------- workflows

-- owner: workflows
create table workflows (
  project_id uuid not null references projects (id) on delete cascade,
  id uuid not null,
  name text not null,
  description text,
  enabled boolean not null default false,
  trigger_type text not null default 'EVENT'
    check (trigger_type in ('EVENT', 'SEGMENT_ENTRY', 'SEGMENT_EXIT', 'SCHEDULE', 'MANUAL')),
  trigger_config jsonb not null default '{}',
  -- The event that starts the workflow, for each type of trigger. Null if no event does.
  trigger_event text,
  allow_reentry boolean not null default false,
  -- The version of the graph for new executions.
  version integer not null default 1,
  -- All executions that started before this time were cancelled together.
  cancelled_until timestamptz,
  -- The next time of an enabled SCHEDULE.
  next_run_at timestamptz,
  created_at timestamptz not null default now(),
  updated_at timestamptz not null default now(),
  -- The time of a schedule that is held since a rollback. Null if none is held.
  held_run_at timestamptz,
  -- Problems that the author confirmed, such as an intended loop. They no longer prevent enabling.
  confirmed_problems text[] not null default '{}',
  primary key (project_id, id)
);
create index workflows_by_trigger on workflows (project_id, trigger_event) where enabled and trigger_event is not null;
create index workflows_scheduled on workflows (next_run_at) where next_run_at is not null;

-- Graphs. A graph never changes after the first execution on it (docs/decisions/0041-one-document-per-version.md).
-- owner: workflows
create table workflow_versions (
  project_id uuid not null,
  workflow_id uuid not null,
  version integer not null,
  graph jsonb not null,
  -- Names of events that steps of the graph wait for.
  wait_names text[] not null default '{}',
  -- Whether an execution has started on it.
  is_used boolean not null default false,
  created_at timestamptz not null default now(),
  -- Whether a sweep made sure that every credential in the graph is encrypted. Only the sweep sets it
  -- (docs/decisions/0115-credentials-of-webhook-steps.md).
  is_sealed boolean not null default false,
  primary key (project_id, workflow_id, version),
  foreign key (project_id, workflow_id) references workflows (project_id, id) on delete cascade
);
create index workflow_versions_unsealed on workflow_versions (project_id, workflow_id, version) where not is_sealed;

-- Contacts on their way through a workflow (docs/decisions/0040-executions.md).
-- owner: workflows
create table workflow_executions (
  project_id uuid not null,
  id uuid not null,
  workflow_id uuid not null,
  contact_id uuid,
  -- 0 if the contact may enter only once. Otherwise different for each entry.
  entry bigint not null,
  version integer not null,
  status text not null default 'RUNNING'
    check (status in ('RUNNING', 'WAITING', 'COMPLETED', 'EXITED', 'FAILED', 'CANCELLED')),
  -- The current step. Null after the end.
  step_id uuid,
  -- When the engine continues. Null while the execution only waits for an event or a response, and after its end.
  due_at timestamptz,
  -- The event that it waits for.
  waits_for text,
  -- The input: the data of the event, or what a caller passed.
  context jsonb,
  -- Values for later steps: `{steps: {<name>: …}}`.
  results jsonb,
  -- The result of the webhook that it waits for.
  answer jsonb,
  -- The steps so far, in order.
  trace jsonb not null default '[]',
  exit_reason text,
  started_at timestamptz not null default now(),
  ended_at timestamptz,
  -- See `event_reactions.from_public_key`.
  from_public_key boolean,
  primary key (project_id, id),
  foreign key (project_id, workflow_id) references workflows (project_id, id) on delete cascade,
  foreign key (project_id, contact_id) references contacts (project_id, id) on delete set null (contact_id)
) with (autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 5000);
create unique index workflow_executions_once on workflow_executions (project_id, contact_id, workflow_id, entry);
create unique index workflow_executions_active on workflow_executions (project_id, workflow_id, contact_id)
  where status in ('RUNNING', 'WAITING');
create index workflow_executions_due on workflow_executions (project_id, due_at) where due_at is not null;
create index workflow_executions_waiting on workflow_executions (project_id, contact_id, waits_for) where waits_for is not null;
-- Active executions of deleted contacts.
create index workflow_executions_left on workflow_executions (project_id) where contact_id is null and status in ('RUNNING', 'WAITING');
create index workflow_executions_listed on workflow_executions (project_id, workflow_id, id);
-- For the activity feed, see `sent_event_id` and `emails_sent_ids`.
create index workflow_executions_ended on workflow_executions (project_id, sent_event_id(id, ended_at)) where ended_at is not null;
create statistics workflow_executions_ended_ids on (sent_event_id(id, ended_at)) from workflow_executions;

-- Counted in the transaction that moves the executions.
-- owner: workflows
create table workflow_step_counts (
  project_id uuid not null,
  workflow_id uuid not null,
  step_id uuid not null,
  entered bigint not null default 0,
  passed bigint not null default 0,
  skipped bigint not null default 0,
  failed bigint not null default 0,
  -- Executions that were cancelled in this step.
  cancelled bigint not null default 0,
  primary key (project_id, workflow_id, step_id),
  foreign key (project_id, workflow_id) references workflows (project_id, id) on delete cascade
);

-- -------------------------------------------------------------------------------------------------------------------------- deliveries

-- Reports from outside, stored before the response and processed later. Their project isn't known yet, so in a sharded database this table
-- stays on the coordinator.
-- owner: deliveries
create table notices (
  id uuid primary key,
  source text not null check (source in ('sns', 'smtp')),
  -- Identifies a notice that arrives twice.
  provider_id text not null,
  -- Erased when the notice is processed, because it contains addresses of people. Kept after a failure.
  raw bytea,
  -- The envelope of a message over SMTP. '' is the empty reverse-path.
  sender text,
  recipient text,
  failures smallint not null default 0,
  due_at timestamptz not null default now(),
  received_at timestamptz not null default now(),
  done_at timestamptz,
  -- What the notice said, in a few words.
  result text,
  unique (source, provider_id)
);
create index notices_waiting on notices (source, due_at) where done_at is null;
-- Messages of strangers without a consequence are deleted after a day.
create index notices_ignored on notices (id) where result like 'ignored: %' or result = 'no such project';

-- Links that people followed. One row per email and link, however often.
-- owner: deliveries
create table link_clicks (
  project_id uuid not null,
  email_id uuid not null,
  number integer not null,
  primary key (project_id, email_id, number),
  foreign key (project_id, email_id) references emails (project_id, id) on delete cascade
);

-- How often the links of a message template were followed and how often it was opened.
-- owner: deliveries
create table tracking_counts (
  project_id uuid not null,
  content_id uuid not null,
  -- The link, or 0 for the pixel.
  number integer not null,
  -- Campaigns can share a message template. 00000000-0000-0000-0000-000000000000 for email without a campaign.
  campaign_id uuid not null,
  -- By people: every time, and the emails in which it was the first time.
  total integer not null default 0,
  mails integer not null default 0,
  -- By machines, every time.
  machine integer not null default 0,
  primary key (project_id, content_id, number, campaign_id),
  foreign key (project_id, content_id) references email_contents (project_id, id) on delete cascade
)
-- Every batch that touches the link updates its row.
with (fillfactor = 50);

-- ---------------------------------------------------------------------------------------------------------------------- the whole schema

-- The system project, for platform email (docs/decisions/0070-platform-email.md). It has no key and no member. All platform email shares one
-- message template, because the text of each email is in its variables and is erased with them.
insert into projects (id, name) values ('00000000-0000-7000-8000-000000000000', 'System mail');
insert into project_queues (project_id, tracking) values ('00000000-0000-7000-8000-000000000000', 'DISABLED');
insert into email_contents (project_id, id, from_address, subject, html, tracked)
values ('00000000-0000-7000-8000-000000000000', '00000000-0000-7000-8000-000000000001', '', 'System mail', '', false);

-- lz4 takes a tenth of the time of the built-in compression on HTML. Servers built without it keep the default.
do $$
begin
  alter table email_contents alter column html set compression lz4, alter column text set compression lz4;
  alter table mailbox_messages alter column raw set compression lz4;
  alter table templates alter column body set compression lz4;
  alter table notices alter column raw set compression lz4;
exception when feature_not_supported then
  raise notice 'This server has no lz4, so bodies are compressed with pglz.';
end
$$;

-- Tells the planner that a project has many rows. It cannot learn this from a table that is nearly empty, where every index that begins with
-- the project looks as good as the one with the whole key (docs/decisions/0027-fresh-query-plans.md).
do $$
declare
  one record;
begin
  for one in
    select c.oid::regclass as name, c.relkind = 'p' as is_partitioned
    from pg_class c join pg_attribute a on a.attrelid = c.oid
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and a.attname = 'project_id'
  loop
    execute format('alter table %s alter column project_id set (%s = 10)', one.name,
      case when one.is_partitioned then 'n_distinct_inherited' else 'n_distinct' end);
  end loop;
end
$$;

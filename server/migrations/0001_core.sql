-- The core: people, tenants and keys, who receives, what happened, what is sent.
-- Every tenant table has project_id first in its primary, unique and foreign keys (ARCHITECTURE.md, decision 2).

create extension if not exists pg_trgm;
create extension if not exists btree_gin;

-- owner: platform
create table idempotency_keys (
  project_id     uuid        not null,
  key            text        not null,
  -- The attempt that holds the key: only it may store an answer.
  claim_id       uuid        not null,
  fingerprint    bytea       not null,
  status         smallint,
  answer         text,
  claimed_until  timestamptz not null,
  created_at     timestamptz not null default now(),
  primary key (project_id, key)
);
create index idempotency_keys_age on idempotency_keys (created_at);

-- Counters of requests in the running window. Unlogged: after a crash the windows begin anew, and no request waits for the log.
-- owner: platform
create unlogged table rate_windows (
  bucket      text        not null,
  started_at  timestamptz not null,
  taken       integer     not null,
  primary key (bucket, started_at)
);
create index rate_windows_age on rate_windows (started_at);

-- owner: users
create table users (
  id             uuid        primary key,
  email          text        not null unique,
  password_hash  text        not null,
  created_at     timestamptz not null default now()
);

-- A session lives while its row does: logging out ends it everywhere at once.
-- owner: users
create table sessions (
  id          uuid        primary key,
  user_id     uuid        not null references users (id) on delete cascade,
  expires_at  timestamptz not null,
  created_at  timestamptz not null default now()
);
create index sessions_user on sessions (user_id);

-- owner: projects
create table projects (
  id            uuid        primary key,
  name          text        not null,
  language      text        not null default 'en',
  tracking      text        not null default 'ENABLED' check (tracking in ('ENABLED', 'DISABLED', 'MARKETING_ONLY')),
  default_from  text,
  disabled      boolean     not null default false,
  created_at    timestamptz not null default now(),
  updated_at    timestamptz not null default now()
);

-- owner: projects
create table memberships (
  project_id  uuid        not null references projects (id) on delete cascade,
  user_id     uuid        not null references users (id) on delete cascade,
  role        text        not null check (role in ('OWNER', 'ADMIN', 'MEMBER')),
  created_at  timestamptz not null default now(),
  primary key (project_id, user_id)
);
create index memberships_user on memberships (user_id);

-- Two keys a project. Found by hash; sealed with the application secret so that members may see them again.
-- owner: projects
create table api_keys (
  hash        bytea       primary key,
  project_id  uuid        not null references projects (id) on delete cascade,
  kind        text        not null check (kind in ('public', 'secret')),
  sealed      bytea       not null,
  created_at  timestamptz not null default now(),
  unique (project_id, kind)
);

-- owner: domains
create table domains (
  project_id          uuid        not null references projects (id) on delete cascade,
  id                  uuid        not null,
  domain              text        not null,
  status              text        not null default 'PENDING' check (status in ('PENDING', 'VERIFIED')),
  dkim_selector       text        not null,
  dkim_public_key     text        not null,
  dkim_private_key    bytea       not null,
  dkim_found          text,
  last_checked_at     timestamptz,
  created_at          timestamptz not null default now(),
  updated_at          timestamptz not null default now(),
  primary key (project_id, id),
  unique (project_id, domain)
);
create index domains_by_name on domains (domain);

-- owner: contacts
create table contacts (
  project_id  uuid        not null references projects (id) on delete cascade,
  id          uuid        not null,
  email       text        not null,
  subscribed  boolean     not null,
  data        jsonb       not null default '{}' constraint contacts_data_size check (pg_column_size(data) <= 1048576),
  created_at  timestamptz not null default now(),
  updated_at  timestamptz not null default now(),
  primary key (project_id, id),
  unique (project_id, email)
)
-- A tracked event changes the data of its contact: with room on its page the new version needs no index entries.
with (fillfactor = 85);
create index contacts_search on contacts using gin (project_id, email gin_trgm_ops) with (fastupdate = on);

-- The type of each key of data, taken from the first value seen and fixed from then on (spec §2.3).
-- owner: contacts
create table contact_fields (
  project_id  uuid        not null references projects (id) on delete cascade,
  field       text        not null,
  type        text        not null check (type in ('string', 'number', 'boolean', 'date')),
  created_at  timestamptz not null default now(),
  primary key (project_id, field)
);

-- What happened to a contact. Append-only.
-- owner: events
create table events (
  project_id  uuid        not null,
  id          uuid        not null,
  contact_id  uuid        not null,
  name        text        not null,
  data        jsonb,
  email_id    uuid,
  created_at  timestamptz not null default now(),
  primary key (project_id, id),
  foreign key (project_id, contact_id) references contacts (project_id, id) on delete cascade
);
create index events_by_contact on events (project_id, contact_id, name, created_at);
create index events_by_email on events (project_id, email_id) where email_id is not null;

-- What a mail says, stored once however many rows point at it; the id is made from the content.
-- owner: emails
create table email_contents (
  project_id   uuid        not null references projects (id) on delete cascade,
  id           uuid        not null,
  from_address text        not null,
  from_name    text,
  reply_to     text,
  subject      text        not null,
  html         text        not null,
  text         text,
  headers      jsonb       not null default '[]',
  attachments  jsonb       not null default '[]',
  created_at   timestamptz not null default now(),
  primary key (project_id, id)
);

-- The bytes of attachments, stored once; the id is made from the bytes.
-- owner: emails
create table email_files (
  project_id  uuid        not null references projects (id) on delete cascade,
  id          uuid        not null,
  bytes       bytea       not null,
  created_at  timestamptz not null default now(),
  primary key (project_id, id)
);
alter table email_files alter column bytes set storage external;

-- The outbox: one row a mail, where it stands, who holds it.
-- owner: emails
create table emails (
  project_id    uuid        not null,
  id            uuid        not null,
  contact_id    uuid,
  content_id    uuid        not null,
  -- 1 transactional, 2 workflow, 3 campaign: also the order in which waiting mails are sent.
  priority      smallint    not null,
  status        text        not null default 'QUEUED'
                check (status in ('QUEUED', 'CLAIMED', 'SENDING', 'SENT', 'FAILED', 'SKIPPED', 'UNCONFIRMED',
                                  'DELIVERED', 'BOUNCED', 'COMPLAINED')),
  to_address    text        not null,
  to_name       text,
  copies        jsonb,
  variables     jsonb,
  attempts      smallint    not null default 0,
  due_at        timestamptz not null default now(),
  sender_id     uuid,
  reason        text,
  created_at    timestamptz not null default now(),
  sent_at       timestamptz,
  primary key (project_id, id),
  foreign key (project_id, content_id) references email_contents (project_id, id),
  foreign key (project_id, contact_id) references contacts (project_id, id) on delete set null (contact_id)
);
create index emails_queue on emails (project_id, priority, due_at) where status = 'QUEUED';
create index emails_held on emails (sender_id) where status in ('CLAIMED', 'SENDING');
create index emails_by_contact on emails (project_id, contact_id, id) where contact_id is not null;

-- Attempts that did not end in "sent" at once: what was answered and when.
-- owner: emails
create table email_attempts (
  project_id  uuid        not null,
  email_id    uuid        not null,
  attempt     smallint    not null,
  outcome     text        not null,
  answer      text        not null,
  created_at  timestamptz not null default now(),
  primary key (project_id, email_id, attempt),
  foreign key (project_id, email_id) references emails (project_id, id) on delete cascade
);

-- A sending process and how long it may act. Mails it holds go back when its lease has run out.
-- owner: emails
create table senders (
  id           uuid        primary key,
  lease_until  timestamptz not null,
  started_at   timestamptz not null default now()
);

-- The local mailbox: messages that stayed on this machine.
-- owner: transports
create table mailbox_messages (
  project_id   uuid        not null references projects (id) on delete cascade,
  id           uuid        not null,
  email_id     uuid        not null,
  from_address text        not null,
  -- The envelope: blind copies too; the first is whom the mail is to.
  recipients   text[]      not null,
  subject      text        not null,
  raw          bytea       not null,
  received_at  timestamptz not null default now(),
  primary key (project_id, id),
  unique (project_id, email_id)
);
create index mailbox_messages_by_recipient on mailbox_messages using gin (project_id, recipients);

-- lz4 takes a tenth of the time of the built-in compression on HTML; a server built without it keeps the default.
do $$
begin
  alter table email_contents alter column html set compression lz4, alter column text set compression lz4;
  alter table mailbox_messages alter column raw set compression lz4;
exception when feature_not_supported then
  raise notice 'this server has no lz4: bodies are compressed with pglz';
end
$$;

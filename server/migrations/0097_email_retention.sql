-- What mails said and to whom is forgotten after so many days (docs/decisions/0094-mails-that-are-forgotten.md).

-- When the row forgot to whom the mail went and what was filled in. 0099 proves the check: here everybody would wait until all rows are read.
-- owner: emails
alter table emails add column forgotten_at timestamptz;
alter table emails add constraint emails_forgotten_check
  check (forgotten_at is null or status not in ('QUEUED', 'CLAIMED', 'UNCONFIRMED')) not valid;

-- No mail that is made later uses it: new ones are named by the month as well, and those that are there are used by mails of before this upgrade.
-- owner: emails
alter table email_contents
  add column used_until timestamptz not null default now(),
  add column forgotten_at timestamptz;
alter table email_files add column used_until timestamptz not null default now();
-- Of who does not say it: never forgotten.
alter table email_contents alter column used_until set default 'infinity';
alter table email_files alter column used_until set default 'infinity';

-- Projects that do not keep what mails say for ever.
-- owner: emails
create table email_retentions (
  project_id        uuid primary key references projects (id) on delete cascade,
  -- A number of contract/src/limits.ts.
  days              integer     not null check (days between 30 and 3650),
  -- Mails up to this id are forgotten, but for those of emails_kept_longer.
  position          uuid        not null default '00000000-0000-0000-0000-000000000000',
  -- Contents that no mail uses from then on are forgotten: all of them, or those up to an id.
  contents_until    timestamptz not null default '-infinity',
  contents_position uuid        not null default '00000000-0000-0000-0000-000000000000'
);
alter table email_retentions alter column project_id set (n_distinct = 10);

-- Mails up to the position that had not ended, or left late; and campaigns with such a mail, whole.
-- owner: emails
create table emails_kept_longer (
  project_id  uuid        not null references email_retentions (project_id) on delete cascade,
  -- Of the mail, or of its campaign.
  id          uuid        not null,
  is_campaign boolean     not null,
  content_id  uuid        not null,
  -- Its mails lie behind the one and reach up to the other.
  after_id    uuid        not null,
  last_id     uuid        not null,
  -- When it is looked at again.
  due_at      timestamptz not null,
  primary key (project_id, id)
);
alter table emails_kept_longer alter column project_id set (n_distinct = 10);

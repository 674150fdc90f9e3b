-- What the sender books beside the state: who took a mail and what was answered; which campaign it belongs to; mail to lists;
-- mail of the installation itself.

alter table email_contents
  -- Mail to a list: it carries List-Unsubscribe and leaves to subscribed contacts only. Null: neither.
  add column list_kind text check (list_kind in ('MARKETING', 'HEADLESS'));

-- The answer to a mail that was sent stands at the mail: 50 bytes; as a row of email_attempts it would be 186.
alter table emails
  add column campaign_id          uuid,
  add column transport            text,
  add column provider_message_id  text,
  add column answer               text;
-- A contact gets at most one mail of a campaign. It begins with the contact, so that it is the index by contact as well: two
-- would cost each mail 42 bytes more. Mails of no campaign do not stand in each other's way: null is never equal.
drop index emails_by_contact;
create unique index emails_by_contact on emails (project_id, contact_id, campaign_id) where contact_id is not null;
create index emails_by_campaign on emails (project_id, campaign_id) where campaign_id is not null;
-- Notices that carry no tag of ours name the mail by this alone. By hash: the names are long, and only asked for as a whole.
create index emails_by_provider_message on emails using hash (provider_message_id) where provider_message_id is not null;
create index emails_unconfirmed on emails (project_id, id) where status = 'UNCONFIRMED';

-- Attempts that did not end in "sent".
alter table email_attempts
  add column transport  text,
  -- What the answer meant (transports/answers/answers.ts); null where there was no answer.
  add column meaning    text;

-- Mail of the installation itself, to people and not to contacts: no project, no tracking. A sender that is gone holds nothing.
-- owner: emails
create table system_mails (
  id          uuid        primary key,
  to_address  text        not null,
  subject     text        not null,
  -- Erased when the mail has left the machine: there may be a secret in it.
  text        text,
  html        text,
  status      text        not null default 'QUEUED'
              check (status in ('QUEUED', 'CLAIMED', 'SENDING', 'SENT', 'FAILED', 'UNCONFIRMED')),
  attempts    smallint    not null default 0,
  due_at      timestamptz not null default now(),
  sender_id   uuid,
  transport   text,
  -- What the last attempt was answered.
  answer      text,
  created_at  timestamptz not null default now(),
  ended_at    timestamptz
);
create index system_mails_open on system_mails (due_at) where status in ('QUEUED', 'CLAIMED', 'SENDING');
create index system_mails_ended on system_mails (ended_at) where ended_at is not null;

-- Messages that people send to a project's inbound address (docs/decisions/0148-received-emails.md).

-- Stored in the transaction of the event `email.received`. Deleted with the contact that wrote, and after the project's retention of emails.
-- owner: received
create table received_emails (
  project_id uuid not null,
  -- The id of the notice that brought the message, so that a message is stored once.
  id uuid not null,
  contact_id uuid not null,
  -- The thread's first email: a received one, or one of `emails`.
  thread_id uuid not null,
  -- The email of the project that this one replies to. Null if there is none.
  email_id uuid,
  -- The address that received the message.
  recipient text not null,
  from_address text not null,
  from_name text,
  -- The address that replies go to. Null for `from_address`.
  reply_to text,
  subject text,
  -- Message-IDs without angle brackets, the newest reference last.
  message_id text,
  reference_ids text[] not null,
  -- The message as it arrived. Texts and attachments are read from it.
  raw bytea not null,
  received_at timestamptz not null default now(),
  primary key (project_id, id),
  foreign key (project_id, contact_id) references contacts (project_id, id) on delete cascade
);
alter table received_emails alter column raw set storage external;
create index received_emails_by_contact on received_emails (project_id, contact_id, id);
create index received_emails_by_thread on received_emails (project_id, thread_id, id);
create index received_emails_by_message on received_emails (project_id, message_id);

-- See the end of 0001_initial.sql.
alter table received_emails alter column project_id set (n_distinct = 10);

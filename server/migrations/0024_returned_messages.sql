-- Messages that came back about a mail and were written for people alone: what they say, for whoever wants to look.

-- The readable part, cut; kept for a month.
-- owner: emails
create table returned_messages (
  project_id    uuid         not null references projects (id) on delete cascade,
  id            uuid         not null,
  email_id      uuid         not null,
  from_address  text,
  subject       text,
  said          text,
  received_at   timestamptz  not null default now(),
  primary key (project_id, id)
);
create index returned_messages_by_email on returned_messages (project_id, email_id);
create index returned_messages_by_age on returned_messages (received_at);

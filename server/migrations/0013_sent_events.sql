-- Every fact once: that a mail was sent stands in its row, and no event beside it says the same. Whoever reads events reads
-- these rows with them (docs/decisions/0025-sent-mails-are-events.md).

-- The id that a sent mail has as an event: a UUIDv7 of the millisecond it left, which comes before every other id of that
-- millisecond, and whose end is that of the mail's id.
create function sent_event_id(email_id uuid, sent_at timestamptz) returns uuid language sql immutable parallel safe as $$
  select encode(
    substring(int8send(floor(extract(epoch from sent_at at time zone 'UTC') * 1000)::bigint) from 3)
      || '\x7000'::bytea || substring(uuid_send(email_id) from 9),
    'hex')::uuid
$$;

-- owner: emails
alter table emails
  -- As this recipient got it, where that differs from the subject of the content: there were variables in it.
  add column subject text;

update emails e set subject = v.data ->> 'subject'
from events v, email_contents c
where v.name = 'email.sent' and v.project_id = e.project_id and v.email_id = e.id
  and c.project_id = e.project_id and c.id = e.content_id and v.data ->> 'subject' <> c.subject;
delete from events where name = 'email.sent';

-- Mails as the events they are, in the order of their ids as such.
create index emails_sent on emails (project_id, sent_event_id(id, sent_at))
  where sent_at is not null and contact_id is not null;

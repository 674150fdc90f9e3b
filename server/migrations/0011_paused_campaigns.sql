-- A campaign whose mails are refused for reasons of ours pauses by itself.

-- owner: campaigns
alter table campaigns
  -- Since when it sends: started, resumed or retried last. What was refused before is not held against it. `held_reason` says
  -- of a paused campaign too why it waits for a person; null: a person paused it.
  add column sending_since timestamptz;
update campaigns set sending_since = now() where status = 'SENDING';

-- The refusals of a project in the order in which they came. What is tried again is not in it.
-- owner: emails
create index email_attempts_refused on email_attempts (project_id, meaning, created_at)
  where meaning in ('hard-bounce', 'soft-bounce', 'policy', 'message');

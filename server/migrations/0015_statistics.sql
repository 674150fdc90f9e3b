-- What PostgreSQL cannot learn from a table that is nearly empty: a project has many rows. Where each row it has seen is of a project
-- of its own, every index that begins with the project looks as good as the one with the whole key, and each address of an
-- import is looked for among all contacts of its project. Used from the next analysis on (docs/decisions/0027-plans-are-made-anew.md).
do $$
declare name text;
begin
  foreach name in array array['contacts', 'consent_changes', 'contact_changes', 'events', 'emails', 'email_attempts',
    'recipient_batches', 'segment_members', 'mailbox_messages', 'link_clicks', 'idempotency_keys']
  loop
    execute format('alter table %I alter column project_id set (n_distinct = 10)', name);
  end loop;
end $$;

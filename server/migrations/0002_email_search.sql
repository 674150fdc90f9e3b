-- Indexes that find emails by recipient, by the statuses that few emails have, and by workflow (docs/decisions/0126-email-search.md).
-- Senders wait while each is created, about two seconds for a million emails.
-- The hash, because the addresses themselves would take three times the space, and most searches are for a whole address.
create index emails_by_address on emails (project_id, hashtext(to_address)) where forgotten_at is null and to_address <> '';
create index emails_not_delivered on emails (project_id, status, id)
  where status in ('FAILED', 'SKIPPED', 'UNCONFIRMED', 'BOUNCED', 'COMPLAINED');
create index emails_by_workflow on emails (project_id, workflow_id, id) where workflow_id is not null;

-- Indexes that find emails by recipient, by the statuses that few emails have, and by workflow (docs/decisions/0126-email-search.md).
-- Senders wait while each is created, about two seconds for a million emails.
-- Without the ID, so that the emails to an address share an entry, at 10 bytes an email. With the ID it takes 120.
create index emails_by_address on emails (project_id, to_address collate "C") where forgotten_at is null and to_address <> '';
create index emails_not_delivered on emails (project_id, status, id)
  where status in ('FAILED', 'SKIPPED', 'UNCONFIRMED', 'BOUNCED', 'COMPLAINED');
create index emails_by_workflow on emails (project_id, workflow_id, id) where workflow_id is not null;

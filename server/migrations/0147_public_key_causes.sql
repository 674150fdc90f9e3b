-- Marks what happens because of a call with a public key, which anyone can make, so that the emails that follow can be limited
-- (docs/decisions/0116-limits-of-public-keys.md). The mark travels from the event to its reactions, to the executions they start or
-- resume, and to the emails those send. Null stands for false, because nearly all rows have no mark and a null takes no space.

-- Owner: events/
alter table events add column from_public_key boolean;

-- Owner: reactions/
alter table event_reactions add column from_public_key boolean;

-- Owner: workflows/
alter table workflow_executions add column from_public_key boolean;

-- Of an email that a workflow sent to a contact because of a public key. FIRST: the first email to a contact that never asked for one.
-- Owner: emails/
alter table emails add column from_public_key text check (from_public_key in ('FIRST', 'LATER'));
create index emails_from_public_key on emails (project_id, contact_id, created_at) where from_public_key is not null;
create index emails_first_from_public_key on emails (project_id, created_at) where from_public_key = 'FIRST';

-- Tags and metadata that callers of /v1/send give an email (docs/decisions/0131-additions-to-send.md). Null for all other email, so adding
-- the columns changes no row, and no row is in the index.

alter table emails add column tags jsonb, add column metadata jsonb;
-- Finds the emails with tags, in the order of the list. Reads every email once, about a second per million.
create index emails_tagged on emails (project_id, id) where tags is not null;

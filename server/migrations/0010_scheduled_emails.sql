-- When a caller of /v1/send wants an email to be sent (docs/decisions/0131-additions-to-send.md). Null for all other email, so adding the
-- column changes no row. `due_at` decides when the email is sent, and later attempts and holds change it.

alter table emails add column scheduled_for timestamptz;

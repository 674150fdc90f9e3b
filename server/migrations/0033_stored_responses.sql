-- Requests no longer claim their Idempotency-Key, so a key always has a response (docs/decisions/0005-receipts-commit-with-their-effect.md).
delete from idempotency_keys where status is null;
alter table idempotency_keys
  drop column claim_id,
  drop column claimed_until,
  alter column status set not null,
  alter column answer set not null;

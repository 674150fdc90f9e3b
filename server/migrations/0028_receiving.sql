-- Who sent a received email, as far as DNS proves it (docs/decisions/0160-sender-checks.md).

-- The results of SPF, DKIM and DMARC, which need the connection that brought the message. Null for reports and for notices of providers.
alter table notices add column authentication jsonb;
-- The same results, with whether they prove the sender's domain. Null for emails from before this migration.
alter table received_emails add column authentication jsonb;

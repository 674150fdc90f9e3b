-- Who sent a received email, as far as DNS proves it (docs/decisions/0160-sender-checks.md).

-- The results of SPF, DKIM and DMARC, which need the connection that brought the message. Null for reports and for notices of providers.
alter table notices add column authentication jsonb;
-- The project whose domain accepted a message. It gets the message also if the domain changes before the message is read. Null for others.
alter table notices add column receiver_id uuid;
-- The same results, with whether they prove the sender's domain. Null for emails from before this migration.
alter table received_emails add column authentication jsonb;

-- The Message-ID of a message that a program submitted over SMTP, without angle brackets, so that replies and searches find the email. A
-- copy of `email_contents.message_id`, because emails are not indexed by content. Null for all other email, which is not in the index.
alter table emails add column submitted_message_id text;
create index emails_by_submitted_message on emails using hash (submitted_message_id) where submitted_message_id is not null;

-- Whether every address at this domain receives email for the project (docs/decisions/0161-receiving-domains.md). It does while the domain is
-- verified.
alter table domains add column receives boolean not null default false;

-- The addresses whose received emails an endpoint gets, with `*` for any characters before the @. Null for all events.
alter table webhook_endpoints add column addresses text[];

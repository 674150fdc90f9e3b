-- Messages that programs hand over by SMTP are sent as they are (docs/decisions/0136-raw-messages.md). Null for all other email, so adding
-- the columns changes no row.

-- The message without the DKIM signature and the fields that each recipient gets. Subject and sender are copies, and `html` is empty.
alter table email_contents add column raw bytea;
alter table email_contents alter column raw set storage external;
-- The Message-ID of a raw message, without angle brackets.
alter table email_contents add column message_id text;

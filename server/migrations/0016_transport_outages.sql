-- What each sending process knows of transports that take no mail, so that every process can tell it.

-- Sentences anybody may read; empty while all is well. Written with each renewal of the lease.
-- owner: emails
alter table senders add column outages text[] not null default '{}';

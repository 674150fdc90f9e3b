-- Where a session was started, so that its owner knows it among others; of those from before nobody knows.
alter table sessions add column address text, add column user_agent text;

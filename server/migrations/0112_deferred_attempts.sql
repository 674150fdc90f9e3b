-- Who counts the mails that a provider deferred looks at those of some days.
create index email_attempts_deferred on email_attempts (project_id, created_at) where outcome = 'deferred';

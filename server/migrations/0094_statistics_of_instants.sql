-- PostgreSQL keeps statistics of what a partial index computes, and does not use them: it took a third of all sent mails to be younger than
-- any instant, and read them in parallel to find those of the last seconds (docs/decisions/0086-reports-in-two-statements.md).
-- owner: emails
create statistics emails_sent_ids on (sent_event_id(id, sent_at)) from emails;
-- owner: workflows
create statistics workflow_executions_ended_ids on (sent_event_id(id, ended_at)) from workflow_executions;
analyze emails, workflow_executions;

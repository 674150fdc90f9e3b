-- The activity feed reads what ended in the order of its end: each row under the id that its end has as an activity, made as that of
-- a sent mail is (docs/decisions/0025-sent-mails-are-events.md).

-- owner: campaigns
create index campaigns_sent on campaigns (project_id, sent_event_id(id, finished_at))
  where status = 'SENT' and finished_at is not null;
create index campaigns_waiting on campaigns (project_id, scheduled_for) where status = 'SCHEDULED';

-- owner: workflows
create index workflow_executions_ended on workflow_executions (project_id, sent_event_id(id, ended_at))
  where ended_at is not null;

-- Who deletes a contact forgets the calls of its executions: found by them, as those of members are.
create index webhook_calls_executions on webhook_calls (project_id, owner_id) where owner_kind = 'workflow';

-- What executions still hold of contacts that were deleted before is taken from them, as it is from now on when a contact is deleted.
-- owner: workflows
update workflow_executions x set context = null, results = null, answer = null,
  trace = case when jsonb_path_exists(x.trace, '$[*].out') then (
    select jsonb_agg(run - 'out' || jsonb_strip_nulls(jsonb_build_object('out', (
      select jsonb_object_agg(key, value) from jsonb_each(run -> 'out') where key in ('emailId', 'reason')))) order by place)
    from jsonb_array_elements(x.trace) with ordinality as v (run, place)) else x.trace end
where x.contact_id is null;

-- owner: webhooks
delete from webhook_calls c using workflow_executions x
where c.owner_kind = 'workflow' and x.project_id = c.project_id and x.id = c.owner_id and x.contact_id is null;

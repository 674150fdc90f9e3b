-- Every SCHEDULE trigger names its audience: docs/decisions/0105-unknown-fields.md. Owner: workflows.
-- Until now a trigger without `audienceType` went to everyone, even one that named a segment or a filter. These go where they say from
-- here on; a trigger that names neither keeps everyone.
update workflows
set trigger_config = trigger_config || jsonb_build_object('audienceType', case
  when jsonb_typeof(trigger_config -> 'segmentId') = 'string' then 'SEGMENT'
  when jsonb_typeof(trigger_config -> 'audienceFilter') = 'object' then 'FILTERED'
  else 'ALL'
  end)
where trigger_type = 'SCHEDULE' and trigger_config ? 'cron' and not trigger_config ? 'audienceType';

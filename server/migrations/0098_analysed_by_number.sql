-- What is analysed when a tenth of a table has changed does not know a project that came since and is large, and is small beside the others: its
-- contacts and mails would be looked for among all of the project for days (docs/decisions/0027). So many changes are little work to look at.
alter table contacts set (autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 5000);
alter table emails set (autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 5000);
alter table segment_members set (autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 5000);
alter table workflow_executions set (autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = 5000);

-- Keys that a database distributed by project accepts (docs/decisions/0165-distributed-by-project.md).

-- A distributed database cannot empty a part of a key. The functions that delete contacts and segments clear these columns instead, and
-- a forgotten one makes the deletion fail.
alter table emails drop constraint emails_project_id_contact_id_fkey,
  add constraint emails_project_id_contact_id_fkey foreign key (project_id, contact_id) references contacts (project_id, id);
alter table workflow_executions drop constraint workflow_executions_project_id_contact_id_fkey,
  add constraint workflow_executions_project_id_contact_id_fkey foreign key (project_id, contact_id) references contacts (project_id, id);
alter table campaigns drop constraint campaigns_project_id_segment_id_fkey,
  add constraint campaigns_project_id_segment_id_fkey foreign key (project_id, segment_id) references segments (project_id, id);

-- Every node has all keys, because a key is looked up before its project is known. A table like that cannot refer to a project on one
-- node. The deletion of a project deletes its keys.
alter table api_keys drop constraint api_keys_project_id_fkey;

-- No constraint spans the nodes. The names are 80 random bits, so they are unique without one.
alter table projects drop constraint projects_inbound_name_key;
create index projects_inbound_name on projects (inbound_name);

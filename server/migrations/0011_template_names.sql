-- Finds templates by name for /v1/send (docs/decisions/0131-additions-to-send.md). Quick, because a project has few templates.
create index templates_name on templates (project_id, name);

-- Webhook steps that were stored before their credentials were encrypted: docs/decisions/0115-credentials-of-webhook-steps.md.
-- owner: workflows

-- Whether a sweep made sure that every credential in the graph is encrypted. Only the sweep sets it.
alter table workflow_versions add column is_sealed boolean not null default false;
create index workflow_versions_unsealed on workflow_versions (project_id, workflow_id, version) where not is_sealed;

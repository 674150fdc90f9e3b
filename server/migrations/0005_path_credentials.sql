-- The sweep encrypts tokens in the paths of webhook URLs now (docs/decisions/0115-credentials-of-webhook-steps.md), so it reads each version again.
-- Versions are few.
update workflow_versions set is_sealed = false where graph::text like '%"WEBHOOK"%';

-- Events of a project itself, such as `campaign.sent`, for its event stream (docs/decisions/0141-events-of-the-project.md).

-- They have no row in `events`, so the outbox event holds their data. `workflow.failed` is about a contact, the others are not.
alter table event_reactions
  alter column contact_id drop not null,
  add column data jsonb,
  add check (contact_id is not null or data is not null);

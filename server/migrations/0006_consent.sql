-- The consent log: when and how each contact was subscribed and unsubscribed, by whom.

-- One row for how a contact began, under the contact's own id, and one for each change of `subscribed` since; contacts that
-- were there before this table have no beginning in it. Written by the statement that changes the contact, gone with the contact.
-- owner: contacts
create table consent_changes (
  project_id  uuid         not null,
  contact_id  uuid         not null,
  id          uuid         not null,
  subscribed  boolean      not null,
  source      text         not null
              check (source in ('page', 'one-click', 'api', 'import', 'bulk', 'bounce', 'complaint', 'dashboard', 'workflow')),
  -- The id of a user, `key` for an API key; null for the contact itself and for mail servers.
  actor       text,
  -- Of public pages only.
  ip          inet,
  -- When the change had its row, not when its transaction began: changes of one contact stay in their order.
  created_at  timestamptz  not null default clock_timestamp(),
  -- The contact before the row: one index finds the log of a contact, and deletes it with the contact.
  primary key (project_id, contact_id, id),
  foreign key (project_id, contact_id) references contacts (project_id, id) on delete cascade
);

-- The consent log names the email through which a contact left, and what comes back about mail to a deleted contact finds its address.

-- owner: contacts
alter table consent_changes
  -- The email whose link was used, that bounced or was reported as spam. No foreign key: the log proves what happened.
  add column email_id uuid;

-- owner: emails
alter table emails
  -- The keyed hash of the address, kept when the contact is deleted and the address is erased: a bounce that comes later is about it.
  add column erased_to uuid;

-- Mail of test keys stays in the local mailbox, whatever the transport is (docs/decisions/0058-test-keys.md).
alter table emails add column stays_here boolean, add constraint emails_stays_here_check check (stays_here);

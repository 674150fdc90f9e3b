-- A test mail of a campaign touches nobody (decisions §8): it has no contact, and nothing that comes of it is counted. Null: an
-- ordinary mail; so that nothing is rewritten, and no row grows.
alter table emails add column is_test boolean;
alter table emails add constraint emails_is_test_check check (is_test) not valid;
-- Looked at under a lock that stops nobody.
alter table emails validate constraint emails_is_test_check;

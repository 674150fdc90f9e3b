-- One account per email address (docs/decisions/0109-one-account-per-address.md). Refuses to run while an address has several: only a person
-- can say which of them stays.
do $$
declare
  found text;
begin
  select string_agg(line, e'\n' order by line) into found from (
    select format('  %s  %s  made %s  %s  %s projects', u.email, u.id, u.created_at::date,
      case when u.verified_at is null then 'not confirmed' else 'confirmed' end,
      (select count(*) from memberships m where m.user_id = u.id)) as line
    from users u
    where u.email in (select email from users group by email having count(*) > 1 order by email limit 100)
    order by u.email, u.id limit 1000
  ) several;
  if found is not null then
    raise exception using errcode = 'P0001', message = format(
      e'These email addresses have several accounts, and each address may have one:\n%s\nRemove the others, then start again: npm run admin -- remove-account <id> [--to <id of the account that gets its projects>]', found);
  end if;
end $$;

drop index users_old_salts;
drop index users_proven_email;
drop index users_email;
alter table users drop column has_old_salt;
alter table users add constraint users_email_key unique (email);

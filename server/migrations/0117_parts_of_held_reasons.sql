-- Why a campaign waits for a person, by code and with what it names, instead of in English alone. What older versions wrote keeps its
-- words; what is held since the database went back is found by its code.
alter table campaigns add column held_reason_parts jsonb;
update campaigns set held_reason_parts = jsonb_build_array(case
  when held_reason like 'Held: the database went back %' then
    jsonb_build_object('code', 'held.wentBack', 'values', '{}'::jsonb, 'text', held_reason)
  else jsonb_build_object('code', 'held.other', 'values', jsonb_build_object('said', held_reason), 'text', held_reason)
  end)
where held_reason is not null;
alter table campaigns drop column held_reason;

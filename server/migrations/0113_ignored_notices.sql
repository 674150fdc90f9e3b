-- What strangers mail and nothing came of is forgotten after a day: those who sweep look at these alone.
create index notices_ignored on notices (id) where result like 'ignored: %' or result = 'no such project';

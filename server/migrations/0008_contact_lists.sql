-- Lists and counts of the subscribed, and of the unsubscribed, however few they are.
create index contacts_by_state on contacts (project_id, subscribed, id);

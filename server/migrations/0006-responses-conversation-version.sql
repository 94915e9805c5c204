-- Goes up with every change of a conversation's items: a response begins with the items that it read, or not at all.
alter table responses.conversation add column version bigint not null default 0;

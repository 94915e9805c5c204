-- The container that a response refers to, while it has not ended: such a container does not expire.
alter table responses.running add column container_id text collate "C";
create index running_of_container on responses.running (container_id) where container_id is not null;
